package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Schedulers that die with jobs in their hands; the tests share none of them. */
@Tag("full")
@Execution(ExecutionMode.CONCURRENT)
class SchedulerDeathIT {

  @Test
  void aSchedulerKilledUnderLoadAndStartedAgainLosesNothing() throws Exception {
    Workload load = Workload.of("killed");
    Submitter submitter = load.submitter();
    try (JavaProcess scheduler = scheduler(load).start();
        JavaProcess worker = load.worker(REGISTRY).start()) {
      scheduler.awaitReady();
      worker.awaitReady();
      long now = System.currentTimeMillis();
      submitter.submit(scheduler, "pending-", 2000, "record", now + 15_000, 2);
      submitter.submit(scheduler, "slow-", 50, "sleep 5000", now, 0);
      Waiting.until(
          "50 jobs are in flight, and 2,000 wait",
          () -> {
            JsonNode queue = submitter.queue(scheduler);
            return load.begun("slow-").size() == 50
                && queue.get("reserved").intValue() == 50
                && queue.get("delayed").intValue() == 2000;
          });

      load.fault("the scheduler is killed", scheduler::kill);
      scheduler.start().awaitReady();

      load.awaitDrained(scheduler);
      Accounting accounting = load.account();
      assertThat(accounting.accepted()).isEqualTo(2050);
      assertThat(accounting.repeated()).allMatch(id -> id.startsWith("slow-"));
      // Its answers had no reader: that is not the application's problem.
      assertThat(Files.readString(worker.log())).doesNotContain("Exception");
    }
  }

  @Test
  void theSurvivorOfTwoSchedulersTakesOverWithinFifteenSeconds() throws Exception {
    Workload load = Workload.of("survivor");
    Submitter submitter = load.submitter();
    try (JavaProcess victim = scheduler(load).start();
        JavaProcess survivor = scheduler(load).start();
        JavaProcess worker = load.worker(REGISTRY).start()) {
      victim.awaitReady();
      survivor.awaitReady();
      worker.awaitReady();
      long now = System.currentTimeMillis();
      // Among many quick jobs some that take long, so that they are under way when the victim dies.
      submitter.submit(victim, "quick-", 4900, "sleep 10", now + 1000, 2);
      submitter.submit(survivor, "slow-", 100, "sleep 4000", now + 1000, 100);
      Waiting.until("half of them began", () -> load.begun("").size() > 2500);

      load.fault("one of two schedulers is killed", victim::kill);
      long killed = System.nanoTime();
      Set<String> orphans = submitter.heldBy(victim, survivor);
      assertThat(orphans).isNotEmpty();
      Waiting.until(
          "the survivor has taken over " + orphans.size() + " jobs",
          () -> submitter.heldBy(victim, survivor).isEmpty());
      Duration taken = Duration.ofNanos(System.nanoTime() - killed);
      System.out.println(orphans.size() + " orphans were taken over within " + taken);
      assertThat(taken).isLessThan(Duration.ofSeconds(15));

      load.awaitDrained(survivor);
      Accounting accounting = load.account();
      assertThat(accounting.accepted()).isEqualTo(5000);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatFallsDueWhileASchedulerIsGoneIsNotLate(boolean killed) throws Exception {
    Workload load = Workload.of("gone");
    Submitter submitter = load.submitter();
    try (JavaProcess victim = scheduler(load).start();
        JavaProcess survivor = scheduler(load).start();
        JavaProcess worker = load.worker(REGISTRY).start()) {
      victim.awaitReady();
      survivor.awaitReady();
      worker.awaitReady();
      long first = System.currentTimeMillis() + 3_000;
      submitter.submit(survivor, "due-", 3_000, "record", first, 5);
      Waiting.until("some jobs began", () -> load.begun("due-").size() > 600);

      load.fault("a scheduler is gone", killed ? victim::kill : victim::suspend);
      // These wait for the end of their leases.
      Set<String> held = submitter.heldBy(victim, survivor);
      Waiting.until("all others began", () -> load.begun("due-").size() >= 3_000 - held.size());
      if (!killed) {
        victim.resume();
      }
      load.awaitDrained(survivor);

      long latest = load.latestBegin(held);
      System.out.println(
          "Latest job when a scheduler was "
              + (killed ? "killed: " : "stopped: ")
              + latest
              + " ms");
      // Two seconds where processors are free. What waits for a lease takes ten.
      assertThat(latest).isLessThan(9_000);
      load.account();
    }
  }

  static Load load(Workload workload, List<JavaProcess> schedulers, String what) {
    return new Load(
        workload.submitter(),
        schedulers.stream().map(JavaProcess::url).toList(),
        "load-",
        what,
        "default",
        Duration.ofMillis(200),
        Duration.ofSeconds(2));
  }

  /** With so many buckets that each of several schedulers owns some. */
  static JavaProcess scheduler(Workload load, String... options) {
    List<String> all = new ArrayList<>(List.of(options));
    all.add("--punctual.buckets=16");
    return PROGRAMS.scheduler(
        REGISTRY, REDIS.port(), load.application(), all.toArray(String[]::new));
  }
}
