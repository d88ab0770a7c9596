package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** 100,000 jobs of one application go out at the same moment, and another one has its own. */
@Isolated("the wave takes all processors")
@Tag("full")
class FloodIT {

  private static final int FLOOD = 100_000;
  private static final int CALM = 200;

  @Test
  void aFloodOnOneQueueDelaysNoOther() throws Exception {
    Workload flood = Workload.of("flood");
    Workload quiet = Workload.of("quiet");
    try (JavaProcess scheduler =
            PROGRAMS.scheduler(REGISTRY, REDIS.port(), flood.application()).start();
        JavaProcess drowning = flood.worker(REGISTRY).start();
        JavaProcess other = quiet.worker(REGISTRY).start()) {
      scheduler.awaitReady();
      drowning.awaitReady();
      other.awaitReady();
      String queue = scheduler.url() + "/api/v1/queues/" + flood.application() + "/job";
      flood.submitter().submit(scheduler, "first-", 1, "record", System.currentTimeMillis(), 0);
      assertThat(Http.post(queue + "/pause", "").status()).isEqualTo(200);
      flood.submitter().submit(scheduler, "wave-", FLOOD, "record", System.currentTimeMillis(), 0);

      long due;
      long before;
      try (Load steady = SchedulerDeathIT.load(quiet, List.of(scheduler), "record").start(20)) {
        Waiting.until("it is calm for a while", () -> steady.sent() >= CALM);
        before = steady.sent();
        due = System.currentTimeMillis();
        assertThat(Http.post(queue + "/resume", "").status()).isEqualTo(200);
        Waiting.until(
            "the wave is over", Duration.ofMinutes(3), () -> flood.submitter().drained(scheduler));
      }
      long over = System.currentTimeMillis();
      quiet.awaitDrained(scheduler);
      double calm = percentile(quiet, 0, due);
      double during = percentile(quiet, due, over);
      System.out.printf(
          "%d jobs due at once were done within %d ms; p99 of a quiet queue (%d jobs before): %.1f"
              + " ms before, %.1f ms meanwhile, %.1f times as much%n",
          FLOOD, over - due, before, calm, during, during / calm);
      // On processors that others have, too, the factor alone says little. Behind the wave it would
      // be nearly as late as that takes.
      assertThat(during).isLessThan(3 * calm + (over - due) / 5.0);
      assertThat(flood.account().repeated()).isEmpty();
      assertThat(quiet.account().repeated()).isEmpty();
    }
  }

  /** The 99th percentile of the lateness, ms, of jobs due in a time. */
  private static double percentile(Workload load, long from, long until) throws IOException {
    double[] late =
        load.executions().stream()
            .filter(run -> due(load, run) >= from && due(load, run) < until)
            .mapToDouble(run -> run.begin() / 1000.0 - due(load, run))
            .sorted()
            .toArray();
    return late.length == 0 ? 0 : late[late.length * 99 / 100];
  }

  private static long due(Workload load, Execution run) {
    return load.submitter().dueOf(run.taskId());
  }
}
