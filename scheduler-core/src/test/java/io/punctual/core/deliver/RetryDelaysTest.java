package io.punctual.core.deliver;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.RetryPolicy;
import io.punctual.core.job.AttemptCounts;
import io.punctual.core.job.Due;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.JobRecord;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.job.Origin;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.ClaimedJob;
import io.punctual.core.store.Settlement;
import io.punctual.core.times.StartTimes;
import io.punctual.core.wake.StoreClock;
import io.punctual.schedule.TimeRules;
import io.punctual.wire.Limits;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RetryDelaysTest {

  private static final long NOW = 1_000_000;
  private static final ErrorNote NOTE = new ErrorNote("here", "why");
  private final RetryDelays retryDelays =
      new RetryDelays(
          new QueueName("shop", "t"),
          queue -> RetryPolicy.parse("1s,2s,3s"),
          new Random(1),
          new StoreClock(() -> 0, () -> NOW),
          new StartTimes(calendar -> Set.of()));

  @Test
  void theWorkersWishComesFirst() {
    Settlement failed =
        retryDelays.failed(
            claimed(0, 0, 0), content(RetryPolicy.NOTIFY), NOTE, Duration.ofMinutes(7));
    assertThat(failed.delay()).isEqualTo(Duration.ofMinutes(7));
    assertThat(ErrorNote.decode(failed.note())).isEqualTo(NOTE);
  }

  @Test
  void aWishOutOfRangeIsMovedIntoIt() {
    assertThat(
            retryDelays.failed(claimed(0, 0, 0), content(null), NOTE, Duration.ofDays(99)).delay())
        .isEqualTo(Limits.MAX_RETRY_DELAY);
    assertThat(
            retryDelays.failed(claimed(0, 0, 0), content(null), NOTE, Duration.ofDays(-1)).delay())
        .isEqualTo(Duration.ZERO);
  }

  @Test
  void thenTheJobsPolicyThenTheQueues() {
    assertThat(
            retryDelays.failed(claimed(0, 2, 2), content(RetryPolicy.NOTIFY), NOTE, null).delay())
        .isEqualTo(Duration.ofMinutes(2));
    assertThat(retryDelays.failed(claimed(0, 1, 1), content(null), NOTE, null).delay())
        .isEqualTo(Duration.ofSeconds(2));
  }

  @Test
  void unknownEndsBackOffByDeliveries() {
    assertThat(retryDelays.unknown(claimed(0, 0, 0), content(null), NOTE, true).delay())
        .isEqualTo(Duration.ofSeconds(1));
    assertThat(retryDelays.unknown(claimed(0, 0, 2), content(null), NOTE, false).delay())
        .isEqualTo(Duration.ofSeconds(5));
    assertThat(retryDelays.unknown(claimed(0, 0, 99), content(null), NOTE, false).delay())
        .isEqualTo(Duration.ofSeconds(60));
  }

  @Test
  void undeliverableBacksOffByItsOwnCount() {
    assertThat(retryDelays.undeliverable(claimed(0, 9, 9), content(null), NOTE, null).delay())
        .isBetween(Duration.ofMillis(500), Duration.ofSeconds(1));
    assertThat(retryDelays.undeliverable(claimed(1000, 0, 0), content(null), NOTE, null).delay())
        .isBetween(Duration.ofSeconds(30), Duration.ofSeconds(60));
  }

  @Test
  void anAttemptThatCouldNotStartInTimeHasNoDelay() {
    JobContent until = until(Instant.ofEpochMilli(NOW + 1000));
    assertThat(retryDelays.failed(claimed(0, 0, 0), until, NOTE, null).delay())
        .isEqualTo(Duration.ofSeconds(1));
    assertThat(retryDelays.failed(claimed(0, 1, 1), until, NOTE, null).delay()).isNull();
    assertThat(retryDelays.unknown(claimed(0, 0, 1), until, NOTE, true).delay()).isNull();
    assertThat(retryDelays.undeliverable(claimed(99, 0, 0), until, NOTE, null).delay()).isNull();
    JobContent in =
        JobContent.of(Due.in(0))
            .timeRules(new TimeRules(null, Duration.ofMillis(NOW), null))
            .build();
    // The record was accepted at 0.
    assertThat(retryDelays.failed(claimed(0, 0, 0), in, NOTE, Duration.ofMillis(1)).delay())
        .isNull();
  }

  private static JobContent until(Instant last) {
    return JobContent.of(Due.in(0)).timeRules(new TimeRules(last, null, null)).build();
  }

  private static ClaimedJob claimed(int undeliverable, int counted, int delivered) {
    return new ClaimedJob(
        "a",
        0,
        delivered + 1,
        new JobRecord("inc", 10, 0, 0, Origin.UNKNOWN, List.of(), new byte[0]),
        new AttemptCounts(undeliverable, 0, counted, counted, delivered, false, 0, 1, 0),
        new LeaseToken("t"));
  }

  private static JobContent content(@Nullable RetryPolicy retry) {
    return JobContent.of(Due.in(0)).retry(retry).build();
  }
}
