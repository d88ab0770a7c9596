package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Schedulers that die with jobs in their hands. */
class SchedulerDeathIT {

  @Test
  void aSchedulerKilledUnderLoadAndStartedAgainLosesNothing() throws Exception {
    String application = SharedSystem.name("killed");
    Path record = SharedSystem.record(application);
    Submitter submitter = new Submitter(application);
    try (JavaProcess scheduler = PROGRAMS.scheduler(REGISTRY, REDIS.port(), application).start();
        JavaProcess worker = PROGRAMS.worker(REGISTRY, application, record).start()) {
      scheduler.awaitReady();
      worker.awaitReady();
      long now = System.currentTimeMillis();
      submitter.submit(scheduler, "slow-", 50, "sleep 8000", now, 0);
      submitter.submit(scheduler, "pending-", 2000, "record", now + 12_000, 2);
      Waiting.until("50 jobs are in flight", () -> begun(record, "slow-").size() == 50);
      assertThat(submitter.queue(scheduler).get("reserved").intValue()).isEqualTo(50);

      scheduler.kill();
      scheduler.start().awaitReady();

      Waiting.until("everything is done", () -> submitter.drained(scheduler));
      Accounting accounting =
          Accounting.of(submitter.attempted(), submitter.acknowledged(), Execution.read(record));
      assertThat(accounting.sound()).as(accounting.toString()).isTrue();
      assertThat(accounting.accepted()).isEqualTo(2050);
      assertThat(accounting.repeated()).allMatch(id -> id.startsWith("slow-"));
    }
  }

  @Test
  void theSurvivorOfTwoSchedulersTakesOverWithinFifteenSeconds() throws Exception {
    String application = SharedSystem.name("survivor");
    Path record = SharedSystem.record(application);
    Submitter submitter = new Submitter(application);
    try (JavaProcess victim = PROGRAMS.scheduler(REGISTRY, REDIS.port(), application).start();
        JavaProcess survivor = PROGRAMS.scheduler(REGISTRY, REDIS.port(), application).start();
        JavaProcess worker = PROGRAMS.worker(REGISTRY, application, record).start()) {
      victim.awaitReady();
      survivor.awaitReady();
      worker.awaitReady();
      long now = System.currentTimeMillis();
      submitter.submit(victim, "job-", 5000, "sleep 20", now + 1000, 2);
      Waiting.until("half of them began", () -> begun(record, "job-").size() > 2500);

      Set<String> inFlight = ownedBy(victim, survivor, submitter);
      victim.kill();
      long killed = System.nanoTime();
      for (String id : inFlight) {
        Waiting.until(
            "the survivor took over " + id,
            Duration.ofSeconds(60),
            () -> {
              String state = submitter.find(survivor, id).get("state").stringValue();
              return state.equals("finished");
            });
      }
      assertThat(Duration.ofNanos(System.nanoTime() - killed)).isLessThan(Duration.ofSeconds(15));

      Waiting.until("everything is done", () -> submitter.drained(survivor));
      Accounting accounting =
          Accounting.of(submitter.attempted(), submitter.acknowledged(), Execution.read(record));
      assertThat(accounting.sound()).as(accounting.toString()).isTrue();
      assertThat(accounting.accepted()).isEqualTo(5000);
      // At most what one scheduler can have with one worker at a time.
      assertThat(accounting.repeated()).hasSizeLessThanOrEqualTo(200);
    }
  }

  @Test
  void aSchedulerThatIsToldToEndUnderLoadCausesNoDuplicates() throws Exception {
    String application = SharedSystem.name("rolling");
    Path record = SharedSystem.record(application);
    Submitter submitter = new Submitter(application);
    try (JavaProcess leaving = PROGRAMS.scheduler(REGISTRY, REDIS.port(), application).start();
        JavaProcess staying = PROGRAMS.scheduler(REGISTRY, REDIS.port(), application).start();
        JavaProcess worker = PROGRAMS.worker(REGISTRY, application, record).start()) {
      leaving.awaitReady();
      staying.awaitReady();
      worker.awaitReady();
      submitter.submit(leaving, "job-", 1500, "sleep 50", System.currentTimeMillis() + 1000, 4);
      Waiting.until("a third of them began", () -> begun(record, "job-").size() > 500);

      leaving.terminate();

      Waiting.until("everything is done", () -> submitter.drained(staying));
      Accounting accounting =
          Accounting.of(submitter.attempted(), submitter.acknowledged(), Execution.read(record));
      assertThat(accounting.sound()).as(accounting.toString()).isTrue();
      assertThat(accounting.repeated()).isEmpty();
    }
  }

  /** Ids that the victim holds a lease on: its leases are told by their owner's port. */
  private static Set<String> ownedBy(JavaProcess victim, JavaProcess survivor, Submitter submitter)
      throws Exception {
    Set<String> owned = new HashSet<>();
    for (int i = 2300; i < 2800; i++) {
      String id = "job-" + i;
      var lease = submitter.find(survivor, id).path("lease");
      if (lease.path("owner").asString("").contains(":" + victim.port() + ":")) {
        owned.add(id);
      }
    }
    return owned;
  }

  static Set<String> begun(Path record, String prefix) throws Exception {
    return Execution.read(record).stream()
        .filter(execution -> !execution.done() && execution.taskId().startsWith(prefix))
        .map(Execution::taskId)
        .collect(Collectors.toSet());
  }
}
