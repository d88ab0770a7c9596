package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Schedulers that leave, or stand still for a while. */
@Tag("full")
class SchedulerLeaveIT {

  @Test
  void schedulersThatAreReplacedOneByOneUnderLoadCauseNoRepeats() throws Exception {
    Workload load = Workload.of("rolling");
    try (JavaProcess one = scheduler(load).start();
        JavaProcess two = scheduler(load).start();
        JavaProcess worker = load.worker(REGISTRY).start()) {
      one.awaitReady();
      two.awaitReady();
      worker.awaitReady();
      try (Load _ = load(load, List.of(one, two), "sleep 200").start(100)) {
        Waiting.until("the load runs", () -> load.begun("").size() > 400);
        for (JavaProcess leaving : List.of(one, two)) {
          leaving.terminate();
          load.awaitLaterBegun(200);
          leaving.start().awaitReady();
        }
      }
      load.awaitDrained(one);
      Accounting accounting = load.account();
      assertThat(accounting.unknown()).isZero();
      assertThat(accounting.repeated()).isEmpty();
    }
  }

  @Test
  void aSchedulerThatWasFrozenForLongerThanItsLeaseDoesNoHarmWhenItWakes() throws Exception {
    Workload load = Workload.of("frozen");
    Submitter submitter = load.submitter();
    try (JavaProcess frozen = scheduler(load, "--punctual.lease=2s").start();
        JavaProcess other = scheduler(load, "--punctual.lease=2s").start();
        JavaProcess worker = load.worker(REGISTRY).start()) {
      frozen.awaitReady();
      other.awaitReady();
      worker.awaitReady();
      submitter.submit(other, "job-", 600, "sleep 1500", System.currentTimeMillis() + 1000, 6);
      Waiting.until(
          "the one that is frozen next holds some",
          () -> submitter.heldBy(frozen, other).size() > 5);

      load.fault(
          "a scheduler is frozen",
          () -> {
            frozen.suspend();
            Waiting.until(
                "its jobs are taken over", () -> submitter.heldBy(frozen, other).isEmpty());
            frozen.resume();
          });

      load.awaitDrained(other);
      Accounting accounting = load.account();
      assertThat(accounting.accepted()).isEqualTo(600);
    }
  }

  private static JavaProcess scheduler(Workload load, String... options) {
    return SchedulerDeathIT.scheduler(load, options);
  }

  private static Load load(Workload workload, List<JavaProcess> schedulers, String what) {
    return SchedulerDeathIT.load(workload, schedulers, what);
  }
}
