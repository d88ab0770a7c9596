package io.punctual.server.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.QueueStats;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.Throttle;
import io.punctual.schedule.TimeRules;
import io.punctual.server.health.Finding.Code;
import io.punctual.server.metrics.Growth;
import io.punctual.server.metrics.QueueSample;
import io.punctual.server.probe.Status;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Where a queue that is well ends. */
class QueueHealthTest {

  private static final long NOW = 1_000_000;

  private static QueueSample queue(
      long waits,
      boolean parked,
      int instances,
      boolean pulled,
      long done,
      long failed,
      long dead) {
    return queue(waits, parked, instances, pulled, done, failed, dead, null, null);
  }

  private static QueueSample queue(
      long waits,
      boolean parked,
      int instances,
      boolean pulled,
      long done,
      long failed,
      long dead,
      @Nullable Long closedUntil,
      @Nullable Long openSince) {
    QueueStats stats =
        new QueueStats(
            new QueueName("shop", "order.close"),
            1,
            NOW,
            3,
            waits > 0 ? 3 : 0,
            0,
            dead,
            waits > 0 ? NOW - waits : null,
            null,
            parked,
            List.of(),
            Throttle.NONE,
            false,
            TimeRules.NONE,
            closedUntil,
            openSince,
            Map.of(),
            dead > 0 ? NOW : null,
            dead,
            null);
    Growth minute = new Growth(Map.of("done", done, "failed", failed), 60_000);
    return new QueueSample(stats, minute, minute, minute, instances, false, pulled, null);
  }

  @ParameterizedTest
  @CsvSource({
    "0, false, 1, false, well",
    "5000, false, 1, false, well",
    "5001, false, 1, false, late",
    "5000, true, 1, false, well",
    "5001, true, 1, false, parked",
    "5001, true, 0, false, unserved",
    // Workers fetch its jobs: nobody is missing.
    "5001, true, 0, true, late",
    "5000, true, 0, true, well"
  })
  void lateHasACause(long waits, boolean parked, int instances, boolean pulled, String state) {
    assertThat(QueueHealth.state(queue(waits, parked, instances, pulled, 0, 0, 0)))
        .isEqualTo(state);
  }

  @Test
  void aQueueOutsideOfItsHoursIsNeitherLateNorParked() {
    QueueSample closed = queue(60_000, true, 0, false, 0, 0, 1, NOW + 1, null);

    assertThat(QueueHealth.state(closed)).isEqualTo("closed");
    assertThat(closed.parked()).isFalse();
    assertThat(QueueHealth.reason(closed)).isEqualTo("closed");
    assertThat(QueueHealth.findings(closed)).isEmpty();
    assertThat(QueueHealth.states()).contains("closed");
    assertThat(QueueHealth.state(queue(60_000, false, 1, false, 74, 26, 0, NOW + 1, null)))
        .isEqualTo("failing");
  }

  /** Its jobs were due in the night. */
  @ParameterizedTest
  @CsvSource({"0, well", "5000, well", "5001, late", "59999, late"})
  void aQueueIsLateOnceItsJobsHaveWaitedWithinItsHours(long open, String state) {
    QueueSample queue = queue(60_000, false, 1, false, 0, 0, 0, null, NOW - open);

    assertThat(queue.readyAge()).isEqualTo(open);
    assertThat(QueueHealth.state(queue)).isEqualTo(state);
    assertThat(queue(3, false, 1, false, 0, 0, 0, null, NOW - open - 4).readyAge()).isEqualTo(3);
  }

  @ParameterizedTest
  @CsvSource({
    "74, 26, failing",
    "90, 10, failing",
    "91, 9, well",
    "0, 20, failing",
    "0, 19, well",
    "600, 0, well"
  })
  void aQueueWhoseAttemptsFailIsNotOnTime(long done, long failed, String state) {
    assertThat(QueueHealth.state(queue(0, false, 1, false, done, failed, 0))).isEqualTo(state);
  }

  @Test
  void theFindingNamesShareAndAttempts() {
    assertThat(QueueHealth.findings(queue(6_000, false, 1, false, 601, 211, 0)))
        .satisfiesExactly(
            failing -> {
              assertThat(failing.code()).isEqualTo(Code.FAILING);
              assertThat(failing.severity()).isEqualTo(Status.PROBLEM);
              assertThat(failing.urgent()).isTrue();
              assertThat(failing.text()).contains("order.close (25 % of 812 attempts");
            },
            late -> assertThat(late.code()).isEqualTo(Code.LATE));
  }

  @Test
  void deadLettersAreNoStateAndNotUrgent() {
    QueueSample queue = queue(0, false, 1, false, 5, 0, 7);

    assertThat(QueueHealth.state(queue)).isEqualTo(QueueHealth.WELL);
    assertThat(QueueHealth.findings(queue)).isEmpty();
    assertThat(QueueHealth.dead(List.of(queue, queue(0, false, 1, false, 5, 0, 9))))
        .singleElement()
        .satisfies(
            dead -> {
              assertThat(dead.code()).isEqualTo(Code.DEAD);
              assertThat(dead.urgent()).isFalse();
              assertThat(dead.text())
                  .isEqualTo("There are dead letters: shop/order.close (9), shop/order.close (7)");
            });
    assertThat(QueueHealth.dead(List.of(queue(0, false, 1, false, 5, 0, 0)))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "true, 0, false, unserved",
    "false, 0, true, scan",
    "true, 0, true, scan",
    "true, 1, false, parked",
    "false, 1, false, scan"
  })
  void aDueJobWaitsForAReason(boolean parked, int instances, boolean pulled, String reason) {
    assertThat(QueueHealth.reason(queue(100, parked, instances, pulled, 0, 0, 0)))
        .isEqualTo(reason);
  }
}
