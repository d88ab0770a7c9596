package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** One queue, and several ways to its jobs. */
@Tag("full")
class DoorsIT {

  // Other tests' schedulers are in the same registry, and have other jobs.
  private static final String SCHEDULERS = "doors-scheduler";
  private static final String[] PULL = {
    "--punctual.delivery=pull", "--worker.pull-lease=5s", "--punctual.service-id=" + SCHEDULERS
  };
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static JavaProcess scheduler;

  @BeforeAll
  static void start() {
    scheduler =
        PROGRAMS
            .scheduler(REGISTRY, REDIS.port(), "doors", "--spring.application.name=" + SCHEDULERS)
            .start()
            .awaitReady();
  }

  @AfterAll
  static void stop() {
    scheduler.close();
  }

  @Test
  void pushPullAndPopShareAQueueAndEveryJobIsDoneOnce() throws Exception {
    Workload load = Workload.of("mixed");
    Submitter submitter = load.submitter();
    Set<String> popped = ConcurrentHashMap.newKeySet();
    AtomicInteger twice = new AtomicInteger();
    AtomicBoolean end = new AtomicBoolean();
    Thread popper = new Thread(() -> pop(load.application(), popped, twice, end), "popper");
    try (JavaProcess pushed = load.worker(REGISTRY).start();
        JavaProcess pulling = load.worker(REGISTRY, PULL).start()) {
      pushed.awaitReady();
      pulling.awaitReady();
      // Both have found the scheduler, or it has found them.
      AtomicInteger warm = new AtomicInteger();
      Waiting.until(
          "jobs are pushed and pulled",
          () -> {
            submitter.submit(
                scheduler, "warm" + warm.get() + "-", 20, "record", System.currentTimeMillis(), 0);
            warm.addAndGet(20);
            return runsOf(load, pushed) > 0 && runsOf(load, pulling) > 0;
          });
      load.awaitDrained(scheduler);
      popper.start();
      submitter.submit(scheduler, "job-", 10_000, "record", System.currentTimeMillis() + 500, 0.5);
      Waiting.until("10,000 jobs are done", PATIENCE, () -> done(submitter) == 10_000 + warm.get());

      List<String> begun = new ArrayList<>(popped);
      load.executions().forEach(execution -> begun.add(execution.taskId()));
      assertThat(twice.get()).isZero();
      assertThat(begun).doesNotHaveDuplicates().hasSize(10_000 + warm.get());
      int byPush = runsOf(load, pushed);
      int byPull = runsOf(load, pulling);
      System.out.printf(
          "10,000 jobs: %d pushed, %d pulled by the starter, %d popped%n",
          byPush, byPull, popped.size());
      assertThat(byPush).isPositive();
      assertThat(byPull).isPositive();
      assertThat(popped).isNotEmpty();

      // The queue changes over while jobs are on their way, and nobody drains anything.
      submitter.submit(scheduler, "over-", 1_000, "record", System.currentTimeMillis(), 2);
      pushed.terminate();
      Waiting.until("all of them are done", PATIENCE, () -> done(submitter) == 11_000 + warm.get());
      load.executions().forEach(execution -> begun.add(execution.taskId()));
      assertThat(load.repeated()).isEmpty();
    } finally {
      end.set(true);
      popper.join();
    }
  }

  private static void pop(
      String application, Set<String> popped, AtomicInteger twice, AtomicBoolean end) {
    String to = scheduler.url() + "/api/v1/command";
    try {
      while (!end.get()) {
        String command =
            "{\"command\":\"pop\",\"application\":\"%s\",\"topic\":\"job\",\"timeout\":1,\"count\":5}"
                .formatted(application);
        for (JsonNode job : Http.post(to, command).json().get("value")) {
          String id = job.get("id").stringValue();
          if (!popped.add(id)) {
            twice.incrementAndGet();
          }
          String finish =
              "{\"command\":\"finish\",\"application\":\"%s\",\"id\":\"%s\",\"token\":\"%s\"}"
                  .formatted(application, id, job.get("token").stringValue());
          assertThat(Http.post(to, finish).status()).isEqualTo(200);
        }
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void anApplicationWithoutWebServerPullsItsJobsFailuresIncluded() throws Exception {
    Workload load = Workload.of("pulling");
    Submitter submitter = load.submitter();
    try (JavaProcess worker =
        load.worker(REGISTRY, PULL[0], PULL[1], PULL[2], "--spring.main.web-application-type=none")
            .start()) {
      long now = System.currentTimeMillis();
      submitter.submit(scheduler, "job-", 200, "record", now, 5);
      assertThat(submitter.submitOne(scheduler, "fails", "fail 2", now, "0s,100ms,1s")).isTrue();
      assertThat(submitter.submitOne(scheduler, "rejects", "reject never", now)).isTrue();
      // Longer than the lease of a pulled job: kept by the heartbeat.
      assertThat(submitter.submitOne(scheduler, "long", "sleep 7000", now)).isTrue();
      Waiting.until("all but the long one", PATIENCE, () -> done(submitter) == 201);
      assertThat(submitter.find(scheduler, "rejects").get("state").stringValue()).isEqualTo("dead");
      assertThat(submitter.find(scheduler, "rejects").at("/lastError/message").asString(""))
          .contains("never");
      assertThat(submitter.find(scheduler, "long").at("/lease/owner").asString(""))
          .startsWith("pull:" + load.application() + ":" + worker.pid() + "-");
      load.awaitDrained(scheduler);
      assertThat(submitter.find(scheduler, "long").get("state").stringValue())
          .isEqualTo("finished");
      assertThat(load.executions()).hasSize(200 + 3 + 1 + 1);
    }
  }

  @Test
  void aTypeThatIsAddedWhileAnInstancePullsRunsThereSoonAndOneThatIsRemovedDoesNot()
      throws Exception {
    Workload load = Workload.of("pulled-types");
    Submitter control = load.submitter();
    Submitter newcomer = new Submitter(load.application(), "newcomer");
    try (JavaProcess changing = load.worker(REGISTRY, PULL).start().awaitReady();
        JavaProcess next =
            load.worker(REGISTRY, PULL[0], PULL[1], PULL[2], "--worker.extra=newcomer")) {
      newcomer.submit(scheduler, "new-", 5, "record", System.currentTimeMillis(), 0);
      control.submitOne(scheduler, "add", "add newcomer", System.currentTimeMillis());
      load.awaitDrained(scheduler);
      Waiting.until(
          "the added type runs", Duration.ofSeconds(5), () -> newcomer.drained(scheduler));
      assertThat(RegistryContract.processes(load, "new-")).containsExactly(changing.pid());

      control.submitOne(scheduler, "remove", "remove newcomer", System.currentTimeMillis());
      load.awaitDrained(scheduler);
      newcomer.submit(scheduler, "late-", 5, "record", System.currentTimeMillis(), 0);
      Waiting.until("they wait", () -> newcomer.queue(scheduler).get("ready").intValue() == 5);
      next.start().awaitReady();
      Waiting.until("they are done", () -> newcomer.drained(scheduler));
      assertThat(RegistryContract.processes(load, "late-")).containsExactly(next.pid());
    }
  }

  @Test
  void jobsOfAPullerThatIsKilledComeBack() throws Exception {
    Workload load = Workload.of("killed");
    Submitter submitter = load.submitter();
    try (JavaProcess dying = load.worker(REGISTRY, PULL).start().awaitReady()) {
      submitter.submit(scheduler, "job-", 20, "sleep 3000", System.currentTimeMillis(), 0);
      Waiting.until("they are under way", () -> load.underWay().size() == 20);
      load.fault("the puller is killed", dying::kill);
      try (JavaProcess other = load.worker(REGISTRY, PULL).start().awaitReady()) {
        load.awaitDrained(scheduler);
        assertThat(runsOf(load, other)).isEqualTo(20);
        assertThat(load.account().repeated()).hasSize(20);
      }
    }
  }

  private static int done(Submitter submitter) throws Exception {
    return submitter.queue(scheduler).get("counters").path("done").intValue();
  }

  private static int runsOf(Workload load, JavaProcess worker) throws Exception {
    return (int)
        load.executions().stream()
            .filter(execution -> execution.run().startsWith(worker.pid() + "-"))
            .count();
  }
}
