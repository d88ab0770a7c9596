package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Workers that are not there, die with jobs in their hands, or leave. */
@Tag("full")
class WorkerDeathIT {

  // What docs/reliability.md promises.
  private static final Duration SOON = Duration.ofSeconds(15);

  private static JavaProcess scheduler;

  @BeforeAll
  static void start() {
    scheduler = PROGRAMS.scheduler(REGISTRY, REDIS.port(), "workers").start().awaitReady();
  }

  @AfterAll
  static void stop() {
    scheduler.close();
  }

  @Test
  void jobsWaitWithoutLosingAnAttemptWhileTheirOnlyWorkerIsDead() throws Exception {
    Workload load = Workload.of("waiting");
    Submitter submitter = load.submitter();
    try (JavaProcess worker = load.worker(REGISTRY).start().awaitReady()) {
      submitter.submit(scheduler, "first-", 1, "record", System.currentTimeMillis(), 0);
      Waiting.until("the first job is done", () -> submitter.drained(scheduler));

      worker.kill();
      submitter.submit(scheduler, "late-", 100, "record", System.currentTimeMillis() + 500, 10);
      // The dead instance is still listed: at least one job finds that out.
      Waiting.until(
          "jobs found nobody, and all of them are due",
          () -> {
            JsonNode queue = submitter.queue(scheduler);
            return queue.get("counters").path("undeliverable").intValue() > 0
                && queue.get("ready").intValue() > 90;
          });
      for (int i = 0; i < 100; i++) {
        JsonNode job = submitter.find(scheduler, "late-" + i);
        assertThat(job.get("attempts").get("failed").intValue()).isZero();
        assertThat(job.get("attempts").get("unknown").intValue()).isZero();
        assertThat(job.get("attempts").get("counted").intValue()).isZero();
      }

      worker.start().awaitReady();
      long ready = System.nanoTime();
      load.awaitDrained(scheduler);
      System.out.println(
          "100 jobs were done %d ms after their worker was ready again"
              .formatted(Duration.ofNanos(System.nanoTime() - ready).toMillis()));
      Accounting accounting = load.account();
      assertThat(accounting.accepted()).isEqualTo(101);
      assertThat(accounting.repeated()).isEmpty();
    }
  }

  @Test
  void jobsThatAWorkerTookToItsGraveAreRunAgainWhenItReturns() throws Exception {
    Workload load = Workload.of("grave");
    Submitter submitter = load.submitter();
    try (JavaProcess worker = load.worker(REGISTRY).start().awaitReady()) {
      submitter.submit(scheduler, "held-", 20, "sleep 10000", System.currentTimeMillis(), 0);
      Waiting.until("they are under way", () -> load.underWay().size() == 20);
      load.fault(
          "a job ends the worker's process, and the others with it",
          () -> {
            assertThat(submitter.submitOne(scheduler, "poison", "halt", 0)).isTrue();
            Waiting.until(
                "the scheduler has heard of none of them",
                () -> submitter.queue(scheduler).get("counters").path("unknown").intValue() == 21);
          });
      Waiting.until("the poison is taken out", () -> submitter.cancel(scheduler, "poison"));

      worker.start().awaitReady();
      load.awaitDrained(scheduler);
      Accounting accounting = load.account();
      assertThat(accounting.repeated()).hasSize(20);
    }
  }

  @Test
  void futuresThatAWorkerTookToItsGraveAreBegunAgainAndADeployWaitsForThem() throws Exception {
    Workload load = Workload.of("futures");
    Submitter submitter = load.submitter();
    try (JavaProcess worker = load.worker(REGISTRY).start().awaitReady()) {
      submitter.submit(scheduler, "held-", 20, "later 10000", System.currentTimeMillis(), 0);
      Waiting.until("they are under way", () -> load.underWay().size() == 20);
      Waiting.until("the scheduler knows that", () -> inFlight(load) == 20);
      load.fault("the process that holds them is killed", worker::kill);

      worker.start().awaitReady();
      Waiting.until("they are under way again", () -> load.repeated().size() == 20);
      // Nobody's thread is in the worker, and the process waits all the same.
      worker.terminate();
      assertThat(load.executions().stream().filter(Execution::done)).hasSize(20);
      worker.start().awaitReady();
      load.awaitDrained(scheduler);
      assertThat(load.account().repeated()).hasSize(20);
    }
  }

  @Test
  void aJobThatIsLeftToSomebodyElseOutlivesItsWorkerAndItsScheduler() throws Exception {
    Workload load = Workload.of("deferred");
    Submitter submitter = load.submitter();
    Path handle = SharedSystem.DIRECTORY.resolve(load.application() + ".handle");
    // It asks a scheduler itself, and the registry has those of other tests as well.
    try (JavaProcess worker =
        load.worker(REGISTRY, "--punctual.url=" + scheduler.url()).start().awaitReady()) {
      assertThat(submitter.submitOne(scheduler, "left", "defer " + handle, 0)).isTrue();
      Waiting.until("its worker has the handle", () -> Files.exists(handle) && leased(submitter));
      // Until it has returned, it has not left the job.
      Waiting.until("its worker has left it", () -> inFlight(load) == 0);
      worker.kill();
      scheduler.kill();
      scheduler.start().awaitReady();
      worker.start().awaitReady();
      // By then the lease of a job that somebody has in his hands would be over.
      assertThat(
              submitter.submitOne(
                  scheduler, "later", "record", System.currentTimeMillis() + 12_000))
          .isTrue();
      Waiting.until("that time has passed", () -> load.begun("later").size() == 1);

      assertThat(submitter.find(scheduler, "left").get("state").asString()).isEqualTo("reserved");
      Http.Answer answer =
          Http.post(scheduler.url() + "/api/v1/claims/" + Files.readString(handle) + "/ack", "");
      assertThat(answer.status()).isEqualTo(200);
      load.awaitDrained(scheduler);
      assertThat(load.account().repeated()).isEmpty();
    }
  }

  /** Whether it was left for longer than any lease that is kept alive. */
  private static boolean leased(Submitter submitter) throws Exception {
    JsonNode until = submitter.find(scheduler, "left").at("/lease/until");
    return !until.isMissingNode()
        && Instant.parse(until.asString()).isAfter(Instant.now().plusSeconds(600));
  }

  private static int inFlight(Workload load) throws Exception {
    return Http.get(scheduler.url() + "/api/v1/workers?application=" + load.application())
        .json()
        .at("/items/0/inFlight")
        .intValue();
  }

  @Test
  void jobsOfAnApplicationThatNeverRanGoOutSoonAfterItAppears() throws Exception {
    Workload load = Workload.of("newcomer");
    Submitter submitter = load.submitter();
    submitter.submit(scheduler, "job-", 300, "record", System.currentTimeMillis(), 0);
    Waiting.until(
        "the queue is parked",
        () -> {
          JsonNode queue = submitter.queue(scheduler);
          return queue.get("parked").booleanValue() && queue.get("ready").intValue() == 300;
        });
    try (JavaProcess worker = load.worker(REGISTRY).start()) {
      Waiting.until("the registry lists " + worker.url(), () -> listed(load.application()));
      long listed = System.nanoTime();
      Waiting.until("jobs run", SOON, () -> !load.begun("job-").isEmpty());
      Duration first = Duration.ofNanos(System.nanoTime() - listed);
      Waiting.until("all jobs ran", () -> load.begun("job-").size() == 300);
      Duration taken = Duration.ofNanos(System.nanoTime() - listed);
      System.out.println(
          "300 parked jobs ran from %s to %s after the registry showed one"
              .formatted(first, taken));
      load.awaitDrained(scheduler);
      assertThat(load.account().repeated()).isEmpty();
    }
  }

  @Test
  void anInstanceThatLeavesCausesNoRepeatsAndOneThatIsKilledOnlyOfWhatItHeld() throws Exception {
    Workload load = Workload.of("instances");
    try (JavaProcess staying = load.worker(REGISTRY).start();
        JavaProcess leaving = load.worker(REGISTRY).start()) {
      staying.awaitReady();
      leaving.awaitReady();
      try (Load _ = SchedulerDeathIT.load(load, List.of(scheduler), "sleep 500").start(50)) {
        awaitBusy(load, leaving);
        leaving.terminate();
        load.awaitLaterBegun(100);
        assertThat(load.repeated()).isEmpty();

        leaving.start().awaitReady();
        awaitBusy(load, leaving);
        load.fault("an instance is killed", leaving::kill);
        load.awaitLaterBegun(100);
      }
      load.awaitDrained(scheduler);
      Accounting accounting = load.account();
      assertThat(accounting.unknown()).isZero();
      assertThat(accounting.repeated()).isNotEmpty();
    }
  }

  @Test
  void whatOneOfThreeInstancesTakesToItsGraveRunsElsewhereSoonHoweverLongItMayTake()
      throws Exception {
    Workload load = Workload.of("third");
    Submitter submitter = load.submitter();
    submitter.mayRunFor(Duration.ofHours(1));
    try (JavaProcess one = load.worker(REGISTRY).start();
        JavaProcess two = load.worker(REGISTRY).start();
        JavaProcess victim = load.worker(REGISTRY).start()) {
      one.awaitReady();
      two.awaitReady();
      victim.awaitReady();
      Waiting.until("the scheduler sees all three", () -> seen(load.application()) == 3);
      // Apart, so that they travel in many requests; together less than two instances take.
      submitter.submit(scheduler, "held-", 189, "sleep 10000", System.currentTimeMillis(), 5);
      Waiting.until("all are under way", () -> load.underWay().size() == 189);
      Set<String> held = heldBy(victim, load);
      // More lost answers in a row than open a circuit.
      assertThat(held).hasSizeGreaterThan(50);

      load.fault("one of three instances is killed", victim::kill);
      long killed = System.nanoTime();
      Waiting.until(
          held.size() + " jobs of the dead instance run again",
          SOON,
          () -> load.repeated().containsAll(held));
      System.out.println(
          "%d jobs of a dead instance ran again within %s"
              .formatted(held.size(), Duration.ofNanos(System.nanoTime() - killed)));
      load.awaitDrained(scheduler);
      assertThat(load.account().repeated()).isEqualTo(held);
    }
  }

  /** The ids of the jobs that the instance has begun and not ended. */
  private static Set<String> heldBy(JavaProcess instance, Workload load) throws IOException {
    return load.executions().stream()
        .filter(execution -> execution.process() == instance.pid() && execution.end() == null)
        .map(Execution::taskId)
        .collect(Collectors.toSet());
  }

  /** How many instances the scheduler sees. */
  private static int seen(String application) throws IOException {
    return Http.get(scheduler.url() + "/api/v1/workers?application=" + application)
        .json()
        .get("items")
        .size();
  }

  /** Waits until the instance has jobs: their runs carry its process id. */
  private static void awaitBusy(Workload load, JavaProcess instance) {
    Waiting.until(
        "jobs reach " + instance.url(),
        () ->
            load.executions().stream()
                    .filter(execution -> execution.run().startsWith(instance.pid() + "-"))
                    .count()
                > 50);
  }

  private static boolean listed(String application) throws Exception {
    Http.Answer answer = Http.get(REGISTRY.url() + "/eureka/apps/" + application);
    return answer.status() == 200 && answer.body().contains("\"UP\"");
  }
}
