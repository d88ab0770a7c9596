package io.punctual.core.store.redis;

import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.IndexTags;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.JobStore.Lapsed;
import io.punctual.core.store.Settled;
import io.punctual.core.store.Settlement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What becomes of jobs that could not start in time. */
class LapseIT extends TransitionTestBase {

  private static final long LATE = NOW - 1001;
  private static final long HARDLY_LATE = NOW - 1000;

  private static BucketState tagged(BucketState state, String id, long last) {
    String tag = IndexTags.notAfter(last);
    return state
        .record(
            id, BucketState.numbers(3, 900_000) + "i-" + id + " 0 - - " + tag + "\nbody of " + id)
        .with("tags", tag + " " + id, "0");
  }

  private static BucketState untagged(BucketState state, String id, long last) {
    return state.without("tags", IndexTags.notAfter(last) + " " + id);
  }

  @Test
  void waitingJobsWhoseLastStartHasPassedBecomeDeadLetters() {
    BucketState given =
        tagged(bucket().delayed("due", NOW - 2000), "due", LATE)
            .tries("due", "0 0 1 1 1 0 970000 4");
    given = tagged(given.delayed("later", NOW + 9), "later", LATE - 5);
    given = tagged(given.delayed("hardly", NOW - 2000), "hardly", HARDLY_LATE);
    given = given.delayed("plain", 5);
    given(given);

    assertThat(store.lapse(bucket, 200)).isEqualTo(new Lapsed(NOW, 2, 0, false));
    BucketState then =
        untagged(untagged(given, "due", LATE), "later", LATE - 5)
            .without("delayed", "due")
            .without("delayed", "later")
            .with("dead", "due", Long.toString(NOW))
            .with("dead", "later", Long.toString(NOW))
            .tries("due", "0 0 1 1 1 0 970000 5")
            .tries("later", "0 0 0 0 0 0 " + (NOW + 9) + " 2")
            .error("due", NOW + " expired dead-expired 0 0 0\n")
            .error("later", NOW + " expired dead-expired 0 0 0\n")
            .counted("dead", 2)
            .counted("lapsed", 2);
    then(then);
    assertThat(store.lapse(bucket, 200)).isEqualTo(new Lapsed(NOW, 0, 0, false));
    then(then);
  }

  @Test
  void jobsThatDoNotWaitStayAndAreNotFoundAgain() {
    BucketState given = tagged(bucket().reserved("runs", NOW + 5, HELD), "runs", LATE);
    given = tagged(given.dead("dead", 4), "dead", LATE);
    given = tagged(given.delayed("moved", NOW), "moved", NOW + 1);
    // An index entry of another kind.
    given = given.with("tags", ",-order.paid=1 moved", "0");
    // Of a record that was lost.
    given = given.with("tags", IndexTags.notAfter(LATE) + " moved", "0");
    given(given);

    assertThat(store.lapse(bucket, 200)).isEqualTo(new Lapsed(NOW, 0, 0, false));
    then(untagged(untagged(untagged(given, "runs", LATE), "dead", LATE), "moved", LATE));
  }

  @Test
  void asManyAsAreAskedForAreTakenAndMoreIsSaid() {
    BucketState given = tagged(bucket().delayed("a", 1), "a", 1);
    given(tagged(given.delayed("b", 1), "b", 2));

    assertThat(store.lapse(bucket, 1)).isEqualTo(new Lapsed(NOW, 1, 0, true));
    assertThat(store.lapse(bucket, 2)).isEqualTo(new Lapsed(NOW, 1, 0, false));
  }

  @Test
  void aBucketMayDropThem() {
    store.dropExpired(bucket, true);
    assertThat(store.stats(bucket).dropsExpired()).isTrue();
    BucketState given =
        tagged(bucket().delayed("a", 1), "a", 1)
            .error("a", "900000 failed retry 1 990000 2\nno")
            .with("control", "expired", "drop");
    given(given);

    assertThat(store.lapse(bucket, 200)).isEqualTo(new Lapsed(NOW, 0, 1, false));
    then(bucket().with("control", "expired", "drop").counted("lapsed", 1).counted("dropped", 1));
    store.dropExpired(bucket, false);
    assertThat(store.stats(bucket).dropsExpired()).isFalse();
  }

  private Settled settle(Settlement.Op op, String id) {
    return store
        .settle(bucket, List.of(new Settlement(op, id, "i-" + id, TOKEN, null, false, new byte[0])))
        .get(0);
  }

  @Test
  void whatWasClaimedTooLateEndsWithoutAnAttempt() {
    given(bucket().reserved("a", NOW + 5, HELD));

    assertThat(settle(Settlement.Op.EXPIRED, "a")).isEqualTo(new Settled(Settled.Kind.EXPIRED, 0));
    then(
        bucket()
            .dead("a", NOW)
            .tries("a", "0 0 0 0 0 0 980000 3")
            .error("a", NOW + " expired dead-expired 0 0 0\n")
            .counted("dead", 1)
            .counted("lapsed", 1));
    assertThat(settle(Settlement.Op.EXPIRED, "a").kind()).isEqualTo(Settled.Kind.LEASE_LOST);
  }

  @Test
  void whatWasClaimedTooLateMayBeDropped() {
    given(bucket().reserved("a", NOW + 5, HELD).with("control", "expired", "drop"));

    assertThat(settle(Settlement.Op.EXPIRED, "a")).isEqualTo(new Settled(Settled.Kind.DROPPED, 0));
    then(bucket().with("control", "expired", "drop").counted("lapsed", 1).counted("dropped", 1));
  }

  @Test
  void anAttemptWithoutANextOneCountsAndIsTheLast() {
    given(
        bucket()
            .reserved("a", NOW + 5, HELD)
            .reserved("b", NOW + 5, HELD)
            .with("control", "expired", "drop"));

    assertThat(settle(Settlement.Op.FAILED, "a")).isEqualTo(new Settled(Settled.Kind.EXPIRED, 0));
    assertThat(settle(Settlement.Op.UNDELIVERABLE, "b").kind()).isEqualTo(Settled.Kind.EXPIRED);
    then(
        bucket()
            .with("control", "expired", "drop")
            .dead("a", NOW)
            .tries("a", "0 0 1 1 1 0 980000 3")
            .error("a", NOW + " failed dead-expired 1 990000 0\n")
            .dead("b", NOW)
            .tries("b", "1 0 0 0 0 0 980000 3")
            .error("b", NOW + " undeliverable dead-expired 1 990000 0\n")
            .counted("dead", 2)
            .counted("failed", 1)
            .counted("lapsed", 2)
            .counted("undeliverable", 1));
  }

  @Test
  void anEmptyBucketHasNone() {
    assertThat(store.lapse(bucket, 200)).isEqualTo(new Lapsed(NOW, 0, 0, false));
    assertThat(
            store
                .claim(bucket, 1, Duration.ofSeconds(1), JobStore.ClaimMode.SENT, TOKEN, "me")
                .jobs())
        .isEmpty();
    then(bucket());
  }
}
