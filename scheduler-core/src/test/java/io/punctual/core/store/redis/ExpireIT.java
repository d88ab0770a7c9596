package io.punctual.core.store.redis;

import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.punctual.core.store.ClockJump;
import io.punctual.core.store.Expired;
import io.punctual.core.store.JobStore;
import org.junit.jupiter.api.Test;

class ExpireIT extends TransitionTestBase {

  private static final String ALONE = "t-1 1 1 990000 980000 2 me";
  private static final String UNRECEIVED = "t-1 1 - 990000 980000 2 me";

  @Test
  void aJobWhoseLeaseRanOutWaitsAgainAndIsASuspect() {
    given(
        bucket()
            .reserved("now", NOW, HELD)
            .reserved("before", NOW - 100, HELD)
            .reserved("later", NOW + 1, HELD));

    assertThat(store.expire(bucket, 200)).isEqualTo(new Expired(NOW, 2, 0, NOW + 1));
    then(
        bucket()
            .delayed("now", NOW)
            .tries("now", "0 1 0 0 1 1 980000 3")
            .error("now", "1000000 lease retry 1 990000 0\n")
            .delayed("before", NOW)
            .tries("before", "0 1 0 0 1 1 980000 3")
            .error("before", "1000000 lease retry 1 990000 0\n")
            .reserved("later", NOW + 1, HELD)
            .counted("expired", 2));
  }

  @Test
  void anAttemptThatTravelledAloneCounts() {
    given(bucket().reserved("a", NOW, ALONE).tries("a", "0 1 0 1 1 1 5 3"));

    assertThat(store.expire(bucket, 200)).isEqualTo(new Expired(NOW, 1, 0, null));
    then(
        bucket()
            .delayed("a", NOW)
            .tries("a", "0 2 0 2 2 1 5 3")
            .error("a", "1000000 lease retry 1 990000 0\n")
            .counted("expired", 1));
  }

  @Test
  void aPulledJobThatWasNeverReceivedCountsNoAttempt() {
    BucketState rest =
        bucket().tries("a", "0 1 1 2 2 1 5 3").error("a", "900000 failed retry 1 990000 2\nno");
    given(rest.reserved("a", NOW, UNRECEIVED).reserved("b", NOW, UNRECEIVED));

    assertThat(store.expire(bucket, 200)).isEqualTo(new Expired(NOW, 2, 0, null));
    then(
        rest.delayed("a", 980_000)
            .delayed("b", 980_000)
            .tries("b", "0 0 0 0 0 0 980000 3")
            .counted("expired", 2));
  }

  @Test
  void aSuspectOfASchedulerThatDiedPaysNoAttempt() {
    given(bucket().delayed("a", NOW - 10_000).tries("a", "0 2 0 0 2 1 5 3"));
    nowIs(NOW - 10_000);
    store.claim(bucket, 1, LEASE, JobStore.ClaimMode.SENT, TOKEN, "me");
    nowIs(NOW);

    assertThat(store.expire(bucket, 200)).isEqualTo(new Expired(NOW, 1, 0, null));
    then(
        bucket()
            .delayed("a", NOW)
            .tries("a", "0 3 0 0 3 1 5 5")
            .error("a", "1000000 lease retry 3 990000 0\n")
            .counted("expired", 1));
  }

  @Test
  void thePoisonThatKillsItsWorkersDies() {
    given(
        bucket()
            .reserved("alone", NOW, ALONE)
            .tries("alone", "0 2 0 2 2 1 5 3")
            .reserved("company", NOW, HELD)
            .tries("company", "0 8 0 0 8 0 5 3"));

    assertThat(store.expire(bucket, 200)).isEqualTo(new Expired(NOW, 0, 2, null));
    then(
        bucket()
            .dead("alone", NOW)
            .tries("alone", "0 3 0 3 3 1 5 3")
            .error("alone", "1000000 lease dead-attempts 1 990000 0\n")
            .dead("company", NOW)
            .tries("company", "0 9 0 0 9 1 5 3")
            .error("company", "1000000 lease dead-deliveries 1 990000 0\n")
            .counted("expired", 2)
            .counted("dead", 2));
  }

  @Test
  void whatCannotRunIsKeptAsDead() {
    given(
        bucket()
            .with("reserved", "noRecord", "5")
            .with("leases", "noRecord", "i-noRecord " + HELD)
            .record("noLease")
            .with("reserved", "noLease", "6")
            .reserved("mangled", 7, "t-1 what"));

    assertThat(store.expire(bucket, 200)).isEqualTo(new Expired(NOW, 0, 3, null));
    then(
        bucket()
            .with("dead", "noRecord", "1000000")
            .error("noRecord", "1000000 corrupt dead-corrupt 0 0 0\n")
            .dead("noLease", NOW)
            .error("noLease", "1000000 corrupt dead-corrupt 0 0 0\n")
            .dead("mangled", NOW)
            .error("mangled", "1000000 corrupt dead-corrupt 0 0 0\n")
            .counted("dead", 3));
  }

  @Test
  void noMoreAreTakenThanWereAskedForEarliestFirst() {
    given(bucket().reserved("a", 3, HELD).reserved("b", 1, HELD).reserved("c", 2, HELD));

    assertThat(store.expire(bucket, 2)).isEqualTo(new Expired(NOW, 2, 0, 3L));
    assertThat(reader.read(bucket).values("delayed")).containsOnlyKeys("b", "c");
    assertThatIllegalArgumentException().isThrownBy(() -> store.expire(bucket, 201));
  }

  @Test
  void tombstonesThatExpiredAreTrimmed() {
    BucketState given = bucket().tomb("young", NOW + 1, "D", "x", 1);
    for (int i = 0; i < 40; i++) {
      given = given.tomb("old" + i, 100 + i, "C", "x", 1);
    }
    given(given);

    store.expire(bucket, 200);

    BucketState expected = bucket().tomb("young", NOW + 1, "D", "x", 1);
    for (int i = 32; i < 40; i++) {
      expected = expected.tomb("old" + i, 100 + i, "C", "x", 1);
    }
    then(expected);
    store.expire(bucket, 200);
    then(bucket().tomb("young", NOW + 1, "D", "x", 1));
    assertThat(timeToLive("done")).isEqualTo(-1);
  }

  @Test
  void nothingToDoChangesNothing() {
    BucketState given = bucket().reserved("a", NOW + 1, HELD).delayed("b", 1).dead("c", 2);
    given(given);

    assertThat(store.expire(bucket, 200)).isEqualTo(new Expired(NOW, 0, 0, NOW + 1));
    then(given);
  }

  @Test
  void repeatingACallChangesNothing() {
    given(bucket().reserved("a", NOW, HELD));
    store.expire(bucket, 200);
    BucketState first = reader.read(bucket);

    assertThat(store.expire(bucket, 200)).isEqualTo(new Expired(NOW, 0, 0, null));
    then(first);
  }

  @Test
  void aLeaseRunsOnForWhatWasLeftOfItWhenTheClockIsSetForward() {
    // Claimed at 990,000; then the clock went from 991,000 to 1,000,000.
    ClockJump jump = new ClockJump(991_001, 9_000);
    BucketState later = bucket().reserved("later", NOW + 1, HELD);
    given(
        later
            .reserved("ended", NOW - 9_000, HELD)
            .reserved("held", NOW - 8_999, HELD)
            .reserved("new", NOW - 1, "t-1 1 0 991001 980000 2 me"));

    assertThat(store.expire(bucket, 200, NOW, jump)).isEqualTo(new Expired(NOW, 2, 0, NOW + 1));
    BucketState after =
        later
            .delayed("ended", NOW)
            .tries("ended", "0 1 0 0 1 1 980000 3")
            .error("ended", "1000000 lease retry 1 990000 0\n")
            .delayed("new", NOW)
            .tries("new", "0 1 0 0 1 1 980000 3")
            .error("new", "1000000 lease retry 1 991001 0\n")
            .reserved("held", NOW + 1, "t-1 1 0 1000000 980000 2 me")
            .counted("expired", 2);
    then(after);

    // Another scheduler that saw the same does not prolong it once more.
    nowIs(NOW + 1);
    assertThat(store.expire(bucket, 200, NOW + 1, jump).retried()).isEqualTo(1);
    assertThat(reader.read(bucket).values("delayed")).containsOnlyKeys("ended", "new", "held");
  }

  @Test
  void noLeaseEndsThatEndedAfterTheLastKnownTime() {
    BucketState held = bucket().reserved("a", NOW - 1, HELD);
    given(held);

    assertThat(store.expire(bucket, 200, NOW - 2, ClockJump.NONE))
        .isEqualTo(new Expired(NOW, 0, 0, NOW - 1));
    then(held);
    assertThat(store.expire(bucket, 200, NOW - 1, ClockJump.NONE).retried()).isEqualTo(1);
  }

  @Test
  void aJobThatWasToBeCancelledIsGone() {
    given(
        bucket()
            .reserved("a", NOW, HELD + " cancelling")
            .tries("a", "0 0 1 1 1 0 5 1")
            .error("a", "900000 failed retry 1 990000 2\nno")
            .reserved("pulled", NOW, UNRECEIVED + " cancelling")
            .reserved("b", NOW + 1, HELD + " cancelling")
            .tomb("old", NOW, "D", "x", 1));

    assertThat(store.expire(bucket, 200)).isEqualTo(new Expired(NOW, 0, 0, 2, NOW + 1));
    then(
        bucket()
            .tomb("a", NOW + RETENTION, "C", "body of a", NOW)
            .tomb("pulled", NOW + RETENTION, "C", "body of pulled", NOW)
            .kept("a", 980_000, "0 0 1 1 1 0 980000 3", "900000 failed retry 1 990000 2\nno")
            .kept("pulled", 980_000, "0 0 0 0 0 0 980000 3", "")
            .reserved("b", NOW + 1, HELD + " cancelling")
            .counted("expired", 2)
            .counted("cancelled", 2));
    assertThat(timeToLive("done")).isBetween(RETENTION - 60_000, RETENTION);
    assertThat(timeToLive("tombs")).isBetween(RETENTION - 60_000, RETENTION);
  }
}
