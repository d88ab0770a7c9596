package io.punctual.core.store.redis;

import static io.punctual.core.store.JobStore.ClaimMode.PUSH;
import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.Throttle;
import io.punctual.core.job.Throttle.Rate;
import io.punctual.core.store.Claim;
import io.punctual.core.store.Settlement;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LimitIT extends TransitionTestBase {

  private void limit(@Nullable Integer concurrency, @Nullable String rate) {
    store.limit(bucket, new Throttle(concurrency, rate == null ? null : Rate.parse(rate)));
  }

  private Claim claim(int max) {
    return store.claim(bucket, max, LEASE, PUSH, TOKEN, "me");
  }

  private void givenDue(int jobs) {
    BucketState state = bucket();
    for (int i = 0; i < jobs; i++) {
      state = state.delayed("j" + i, i);
    }
    given(state);
  }

  private Claim assertClaimed(int jobs, @Nullable Long next, boolean full) {
    Claim claim = claim(9);
    assertThat(claim.jobs()).hasSize(jobs);
    assertThat(claim.nextDue()).isEqualTo(next);
    assertThat(claim.full()).isEqualTo(full);
    return claim;
  }

  @Test
  void noMoreThanTheConcurrencyIsOutAtOnce() {
    givenDue(5);
    limit(3, null);

    assertClaimed(3, NOW + 1000, true);
    assertClaimed(0, NOW + 1000, true);
    store.settle(
        bucket,
        java.util.List.of(
            new Settlement(
                Settlement.Op.DONE,
                "j0",
                "i-j0",
                TOKEN,
                Duration.ZERO,
                /* alone= */ false,
                new byte[0])));
    assertClaimed(1, NOW + 1000, true);
    limit(9, null);
    assertClaimed(1, null, false);
  }

  @Test
  void noMoreThanTheRateGoesOut() {
    givenDue(9);
    limit(null, "2/s");

    // A second's worth in one moment, then one each half second.
    assertThat(assertClaimed(2, NOW + 500, false).held()).isTrue();
    nowIs(NOW + 499);
    assertClaimed(0, NOW + 500, false);
    nowIs(NOW + 500);
    assertClaimed(1, NOW + 1000, false);
    nowIs(NOW + 1700);
    assertClaimed(2, NOW + 2200, false);
    // However long nothing went out.
    nowIs(NOW + 100_000);
    assertClaimed(2, NOW + 100_500, false);
    limit(null, "1/30s");
    assertClaimed(1, NOW + 130_000, false);
    limit(null, null);
    assertClaimed(1, null, false);
  }

  @Test
  void aJobThatIsDueLaterThanTheRateAllowsIsAimedAt() {
    given(bucket().delayed("a", 1).delayed("b", NOW + 700));
    limit(5, "2/s");

    // Nothing is held back: what waits is not due.
    assertThat(assertClaimed(1, NOW + 700, false).held()).isFalse();
    nowIs(NOW + 700);
    assertClaimed(1, null, false);
  }

  @Test
  void boundsAreShownAndKept() {
    assertThat(store.limit(bucket, new Throttle(7, Rate.parse("100/m")))).isNull();
    assertThat(store.stats(bucket).throttle())
        .isEqualTo(new Throttle(7, new Rate(100, Duration.ofMinutes(1))));
    store.pause(bucket, true);
    assertThat(store.stats(bucket).throttle().concurrency()).isEqualTo(7);
    limit(null, null);
    assertThat(store.stats(bucket).throttle()).isEqualTo(Throttle.NONE);
    assertThat(store.stats(bucket).pausedSince()).isEqualTo(NOW);
  }

  @ParameterizedTest
  @CsvSource({
    "1, 1/ms",
    "999999, 999999/s",
    "1000000, 1000000/s",
    "1000000, 1000000/ms",
    "1000000, 1/30d",
    "1000000, 1000000/30d"
  })
  void boundsAreShownUpToTheGreatest(int concurrency, String rate) {
    Throttle throttle = new Throttle(concurrency, Rate.parse(rate));
    givenDue(1);
    store.limit(bucket, throttle);

    assertThat(store.stats(bucket).throttle()).isEqualTo(throttle);
    assertClaimed(1, null, concurrency == 1);
  }

  @Test
  void theLongestRateOfAQueueWithTheMostBucketsIsKept() {
    Rate rate = Rate.parse("1/30d");
    Rate part = rate.part(Bucket.MAX_BUCKETS);
    givenDue(2);
    store.limit(bucket, new Throttle(null, part));

    assertThat(store.stats(bucket).throttle().rate()).isEqualTo(part);
    assertThat(part.whole(Bucket.MAX_BUCKETS)).isEqualTo(rate);
    long next = NOW + Duration.ofDays(30).multipliedBy(Bucket.MAX_BUCKETS).toMillis();
    assertClaimed(1, next, false);
    nowIs(next - 1);
    assertClaimed(0, next, false);
    nowIs(next);
    assertClaimed(1, null, false);
  }

  @Test
  void aBoundThatSomebodyElseMadeGreaterIsShownAsTheGreatest() {
    given(
        bucket()
            .with("control", "concurrency", "1000001")
            .with("control", "rate", "123456789012 " + "9".repeat(18)));

    assertThat(store.stats(bucket).throttle())
        .isEqualTo(new Throttle(1_000_000, new Rate(1_000_000, Rate.LONGEST_OF_PART)));
  }

  @Test
  void whoWaitsIsToldOfTheEarliestJob() {
    given(bucket().delayed("a", NOW + 5));
    assertThat(store.limit(bucket, new Throttle(1, null))).isEqualTo(NOW + 5);
  }

  @ParameterizedTest
  @CsvSource({"many, fast, soon", "-3, 0 1000, -", "0, 5 0, ''", "1e3, 1.5 1000, 1e30"})
  void aBoundThatIsNoneIsNone(String concurrency, String rate, String tat) {
    given(
        bucket()
            .delayed("a", 1)
            .with("control", "concurrency", concurrency)
            .with("control", "rate", rate)
            .with("control", "tat", tat));

    assertThat(store.stats(bucket).throttle()).isEqualTo(Throttle.NONE);
    assertClaimed(1, null, false);
  }

  @ParameterizedTest
  @CsvSource({
    "100/s, 100, 1000, 100/s",
    "5/M, 5, 60000, 5/m",
    "10/30s, 10, 30000, 10/30s",
    "1/3600s, 1, 3600000, 1/h",
    "1/24h, 1, 86400000, 1/d",
    "3/250ms, 3, 250, 3/250ms",
    "7/1ms, 7, 1, 7/ms"
  })
  void ratesAreReadAndShown(String text, int jobs, long millis, String shown) {
    Rate rate = Rate.parse(text);
    assertThat(rate).isEqualTo(new Rate(jobs, Duration.ofMillis(millis)));
    assertThat(rate).hasToString(shown);
    assertThat(Rate.parse(shown)).isEqualTo(rate);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "5",
        "/s",
        "x/s",
        "0/s",
        "-1/s",
        "1.5/s",
        "5/0s",
        "5/w",
        "1000001/s",
        "1/31d",
        "5 / s"
      })
  void otherRatesAreRefused(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Rate.parse(text))
        .withMessageStartingWith("rate must be");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, 1_000_001})
  void theConcurrencyIsBounded(int concurrency) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Throttle(concurrency, null))
        .withMessageStartingWith("concurrency must be");
  }
}
