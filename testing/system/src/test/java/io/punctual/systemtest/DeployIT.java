package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Instances of an application that are not alike. */
@Tag("full")
class DeployIT {

  private static JavaProcess scheduler;

  @BeforeAll
  static void start() {
    scheduler = PROGRAMS.scheduler(REGISTRY, REDIS.port(), "deploy").start().awaitReady();
  }

  @AfterAll
  static void stop() {
    scheduler.close();
  }

  @Test
  void aNewTaskTypeWaitsForTheInstancesThatKnowItWhileAllAreReplaced() throws Exception {
    Workload load = Workload.of("deploy");
    Submitter extra = new Submitter(load.application(), "extra");
    try (JavaProcess oldOne = load.worker(REGISTRY).start();
        JavaProcess oldTwo = load.worker(REGISTRY).start();
        JavaProcess newOne = load.worker(REGISTRY, "--worker.extra=extra");
        JavaProcess newTwo = load.worker(REGISTRY, "--worker.extra=extra")) {
      oldOne.awaitReady();
      oldTwo.awaitReady();
      try (Load _ = SchedulerDeathIT.load(load, List.of(scheduler), "sleep 200").start(60)) {
        Waiting.until("the load runs", () -> load.begun("load-").size() > 200);
        extra.submit(scheduler, "extra-", 50, "record", System.currentTimeMillis(), 0);
        Waiting.until(
            "nobody knows the new type", () -> extra.queue(scheduler).get("parked").booleanValue());

        newOne.start().awaitReady();
        Waiting.until("the new ones run", () -> load.begun("extra-").size() == 50);
        oldOne.terminate();
        newTwo.start().awaitReady();
        oldTwo.terminate();
        extra.submit(scheduler, "extra-more-", 50, "record", System.currentTimeMillis(), 0);
        load.awaitLaterBegun(200);
      }
      load.awaitDrained(scheduler);
      Waiting.until("the extra ones, too", () -> extra.drained(scheduler));
      assertThat(load.begun("extra-")).hasSize(100);
      // Nothing failed, nothing was tried in vain, nothing was done twice.
      for (Submitter queue : List.of(load.submitter(), extra)) {
        assertThat(queue.queue(scheduler).get("counters").path("failed").asInt(0)).isZero();
        assertThat(queue.queue(scheduler).get("counters").path("unknown").asInt(0)).isZero();
      }
      load.submitter().adopt(extra);
      Accounting accounting = load.account();
      assertThat(accounting.unknown()).isZero();
      assertThat(accounting.repeated()).isEmpty();
    }
  }

  @Test
  void anInstanceTenTimesSlowerDoesNotDragTheOthers() throws Exception {
    Workload load = Workload.of("slower");
    try (JavaProcess slow =
            load.worker(REGISTRY, "--worker.slower=10", "--punctual.concurrency=10").start();
        JavaProcess one = load.worker(REGISTRY, "--punctual.concurrency=10").start();
        JavaProcess two = load.worker(REGISTRY, "--punctual.concurrency=10").start()) {
      for (JavaProcess worker : List.of(slow, one, two)) {
        worker.awaitReady();
      }
      String workers = scheduler.url() + "/api/v1/workers?application=" + load.application();
      Waiting.until(
          "the scheduler sees all three", () -> Http.get(workers).json().get("items").size() == 3);
      Submitter submitter = load.submitter();
      submitter.submit(scheduler, "known-", 300, "sleep 1", System.currentTimeMillis() + 500, 10);
      Waiting.until("all three have begun", () -> shares(load).size() == 3);
      load.awaitDrained(scheduler);
      submitter.submit(scheduler, "job-", 1500, "sleep 50", System.currentTimeMillis() + 1_000, 0);
      load.awaitDrained(scheduler);
      Map<Long, Long> shares = shares(load);
      System.out.println("shares of a slow instance and two others: " + shares);
      // Evenly it would be a third, and the slow one would work for 25 s on it.
      assertThat(shares.getOrDefault(slow.pid(), 0L)).isLessThan(1500 / 5);
      assertThat(load.account().repeated()).isEmpty();
    }
  }

  /** How many of the long jobs each process has begun, or of all of them at first. */
  private static Map<Long, Long> shares(Workload load) throws IOException {
    String prefix = load.begun("job-").isEmpty() ? "known-" : "job-";
    return load.executions().stream()
        .filter(execution -> execution.taskId().startsWith(prefix))
        .collect(Collectors.groupingBy(Execution::process, Collectors.counting()));
  }
}
