package io.punctual.core.store.redis;

import static io.punctual.core.store.JobStore.ClaimMode.OWN;
import static io.punctual.core.store.JobStore.ClaimMode.PUSH;
import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.Opening;
import io.punctual.core.job.Throttle;
import io.punctual.core.store.Claim;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A bucket that hands out jobs in certain hours only. */
class HoursIT extends TransitionTestBase {

  private static BucketState closing(BucketState state, String opening) {
    return state.with("control", "hours", "mornings").with("control", "opening", opening);
  }

  private static Claim closed(@Nullable Long next, @Nullable String hours) {
    return new Claim(NOW, List.of(), List.of(), next, null, null, false, false, true, hours, 0);
  }

  private Claim claim() {
    return store.claim(bucket, 9, LEASE, PUSH, TOKEN, "me");
  }

  @Test
  void hoursOfWhichTheOpeningIsNotKnownAreAskedFor() {
    BucketState given = bucket().delayed("a", NOW - 5).delayed("b", NOW + 5);
    given(given);

    assertThat(store.hours(bucket, "mornings")).isEqualTo(NOW - 5);
    then(closing(given, "0 0 0 0"));
    assertThat(claim()).isEqualTo(closed(NOW - 5, "mornings"));
    assertThat(store.claim(bucket, 9, LEASE, OWN, TOKEN, "me"))
        .isEqualTo(closed(NOW - 5, "mornings"));
    assertThat(store.stats(bucket).hours()).isEqualTo("mornings");
    assertThat(store.stats(bucket).closedUntil()).isZero();
    then(closing(given, "0 0 0 0"));

    assertThat(store.hours(bucket, "")).isEqualTo(NOW - 5);
    then(given);
    assertThat(store.stats(bucket).hours()).isEmpty();
    assertThat(store.stats(bucket).closedUntil()).isNull();
    assertThat(claim().jobs()).hasSize(1);
  }

  @Test
  void anOpeningIsKeptUnlessTheHoursAreOthers() {
    given(closing(bucket(), "0 0 0 0"));

    store.opening(bucket, "evenings", new Opening(1, 2, 3, 4));
    then(closing(bucket(), "0 0 0 0"));
    store.opening(bucket, "mornings", new Opening(1, 2, 3, 4));
    then(closing(bucket(), "1 2 3 4"));
  }

  @Test
  void noOpeningIsKeptWithoutHours() {
    store.opening(bucket, "mornings", new Opening(1, 2, 3, 4));
    then(bucket());
  }

  /** All in ms from now; the answer is when to claim next, or empty for a job. */
  @ParameterizedTest
  @CsvSource({
    "0, 1, 1,",
    "1, 9, 5, 1",
    "7, 9, 5, 5",
    "-9, 0, 5, 5",
    "-9, 9, 1,",
  })
  void jobsGoOutFromTheBeginOfAnOpeningUntilBeforeItsEnd(
      long from, long to, long good, @Nullable Long next) {
    given(
        closing(
            bucket().delayed("a", NOW - 5),
            (NOW + from) + " " + (NOW + to) + " " + NOW + " " + (NOW + good)));
    Claim claim = claim();
    if (next == null) {
      assertThat(claim.jobs()).hasSize(1);
      assertThat(claim.closed()).isFalse();
      assertThat(claim.openSince()).isEqualTo(NOW + from);
      assertThat(store.stats(bucket).closedUntil()).isNull();
    } else {
      assertThat(claim).isEqualTo(closed(NOW + next, null));
      assertThat(store.stats(bucket).closedUntil()).isEqualTo(NOW + next);
    }
  }

  @Test
  void anOpeningIsGoodUntilBeforeItsEnd() {
    given(closing(bucket().delayed("a", NOW - 5), "0 " + (NOW + 9) + " 0 " + NOW));
    assertThat(claim()).isEqualTo(closed(NOW - 5, "mornings"));
  }

  /** Found out when the clock was ahead: it had closed for the day. */
  @Test
  void anOpeningOfAClockThatWasSetBackIsFoundOutAgain() {
    String tomorrow = (NOW + 90) + " " + (NOW + 99) + " ";
    given(closing(bucket().delayed("a", NOW - 5), tomorrow + (NOW + 1) + " " + (NOW + 90)));
    assertThat(claim()).isEqualTo(closed(NOW - 5, "mornings"));
    assertThat(store.stats(bucket).closedUntil()).isZero();

    given(closing(bucket().delayed("a", NOW - 5), tomorrow + NOW + " " + (NOW + 90)));
    assertThat(claim()).isEqualTo(closed(NOW + 90, null));
  }

  @Test
  void whatIsDueLaterThanTheOpeningIsWaitedFor() {
    given(
        closing(bucket().delayed("a", NOW + 70), (NOW + 7) + " " + (NOW + 99) + " 0 " + (NOW + 7)));
    assertThat(claim().nextDue()).isEqualTo(NOW + 70);
  }

  @Test
  void aPausedBucketAsksForNoHours() {
    given(closing(bucket().delayed("a", NOW - 5), "0 0 0 0").with("control", "paused", "" + NOW));
    assertThat(claim()).isEqualTo(new Claim(NOW, List.of(), List.of(), null, null, NOW, false));
  }

  @Test
  void anOpeningWithoutHoursClosesNothing() {
    given(bucket().delayed("a", NOW - 5).with("control", "opening", "0 0 0 0"));
    assertThat(claim().jobs()).hasSize(1);
  }

  @Test
  void anOpeningThatNobodyCanReadIsAskedForAgain() {
    given(closing(bucket().delayed("a", NOW - 5), "soon"));
    assertThat(claim().hours()).isEqualTo("mornings");
  }

  @Test
  void aLimitHoldsBesideTheHours() {
    given(
        closing(
            bucket().delayed("a", NOW - 5).delayed("b", NOW - 4),
            "0 " + (NOW + 9) + " 0 " + (NOW + 9)));
    var unused = store.limit(bucket, new Throttle(1, new Throttle.Rate(1, Duration.ofMinutes(1))));
    assertThat(claim().jobs()).hasSize(1);
    assertThat(claim().jobs()).isEmpty();
    assertThat(store.stats(bucket).closedUntil()).isNull();
  }
}
