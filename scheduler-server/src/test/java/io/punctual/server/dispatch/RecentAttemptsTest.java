package io.punctual.server.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class RecentAttemptsTest {

  private final RecentAttempts attempts = new RecentAttempts();
  // As System.nanoTime() may.
  private long now = -Duration.ofMinutes(5).toNanos() - 1;

  private void add(int times, boolean done, long ms) {
    for (int i = 0; i < times; i++) {
      attempts.add(now, done, Duration.ofMillis(ms).toNanos());
    }
  }

  private void pass(Duration time) {
    now += time.toNanos();
  }

  @Test
  void whatEndedMoreThanAQuarterOfAnHourAgoIsForgotten() {
    assertThat(attempts.figures(now)).isEqualTo(InstanceAttempts.NONE);
    add(5, true, 1);
    add(2, false, 1);
    pass(Duration.ofMinutes(10));
    add(15, true, 1);
    InstanceAttempts both = attempts.figures(now);
    assertThat(both.done()).isEqualTo(20);
    assertThat(both.failed()).isEqualTo(2);
    assertThat(both.ended()).isEqualTo(22);
    assertThat(both.failedShare()).isBetween(9.0, 9.1);
    assertThat(both.donePerMinute()).isEqualTo(2);

    pass(Duration.ofMinutes(5));
    InstanceAttempts later = attempts.figures(now);
    assertThat(later.done()).isEqualTo(15);
    assertThat(later.failed()).isZero();
    assertThat(later.donePerMinute()).isEqualTo(1);
    pass(Duration.ofMinutes(15));
    assertThat(attempts.figures(now)).isEqualTo(InstanceAttempts.NONE);

    add(7, true, 1);
    assertThat(attempts.figures(now).donePerMinute()).as("of less than a minute").isEqualTo(7);
  }

  @Test
  void oneOfAHundredMayTakeLonger() {
    add(99, true, 60);
    add(1, true, 9_000);
    assertThat(attempts.figures(now).p99Ms()).isBetween(60L, 85L);
    add(1, false, 9_000);
    assertThat(attempts.figures(now).p99Ms()).isEqualTo(9_000);
  }

  @Test
  void nothingTookLongerThanTheLongest() {
    add(1, true, 50);
    assertThat(attempts.figures(now).p99Ms()).isEqualTo(50);
    add(1, true, Duration.ofDays(2).toMillis());
    assertThat(attempts.figures(now).p99Ms()).isEqualTo(Duration.ofDays(2).toMillis());
  }
}
