package io.punctual.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.QueueName;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RecentErrorsTest {

  private static final QueueName QUEUE = new QueueName("shop", "mail");

  private final AtomicLong now = new AtomicLong();
  private final RecentErrors errors = new RecentErrors(now::get);

  private void fail(int times, String instance, String release, String message) {
    for (int i = 0; i < times; i++) {
      errors.add(QUEUE, new ErrorNote(instance, release, message.replace("#", "" + i)));
    }
  }

  @Test
  void theMostFrequentErrorIsToldWithItsInstanceAndRelease() {
    fail(6, "shop-3", "2.14.0", "a.B: order # failed\n\tat a.C.d(C.java:1)");
    fail(2, "shop-1", "2.13.0", "a.B: order # failed");
    fail(2, "shop-1", "2.13.0", "other");

    assertThat(errors.of(QUEUE))
        .isEqualTo(
            new RecentErrors.Common(
                "a.B: order 1 failed", 80, 10, new FailurePlace(75, "shop-3", "2.14.0")));
  }

  @Test
  void aReleaseStandsOutWhereNoInstanceDoes() {
    for (int i = 0; i < 4; i++) {
      fail(1, "shop-" + i, "2.14.0", "late");
    }

    assertThat(errors.of(QUEUE))
        .isEqualTo(new RecentErrors.Common("late", 100, 4, new FailurePlace(100, "", "2.14.0")));
  }

  @Test
  void theLastHundredOfTheLastQuarterOfAnHourCount() {
    fail(60, "", "", "old");
    now.addAndGet(Duration.ofMinutes(10).toNanos());
    fail(60, "", "", "new");

    assertThat(errors.of(QUEUE)).isEqualTo(new RecentErrors.Common("new", 60, 100, null));

    now.addAndGet(Duration.ofMinutes(6).toNanos());
    assertThat(errors.of(QUEUE)).isEqualTo(new RecentErrors.Common("new", 100, 60, null));
    now.addAndGet(Duration.ofMinutes(10).toNanos());
    assertThat(errors.of(QUEUE)).isNull();
  }
}
