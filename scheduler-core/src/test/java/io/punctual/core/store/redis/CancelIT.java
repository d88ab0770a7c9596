package io.punctual.core.store.redis;

import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.Ending;
import io.punctual.core.job.JobVersion;
import io.punctual.core.store.Cancelled;
import io.punctual.core.store.Cancelled.Kind;
import io.punctual.core.store.query.JobView;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class CancelIT extends TransitionTestBase {

  private static final String FRESH = "0 0 0 0 0 0 1000000 2";

  private void assertAnswer(String id, Kind kind, int attempt, long version) {
    assertThat(store.cancel(bucket, id, null)).isEqualTo(new Cancelled(kind, attempt, version));
  }

  @Test
  void aWaitingJobIsGoneAndItsIdRemembered() {
    given(
        bucket()
            .delayed("a", NOW - 5)
            .tries("a", "0 0 1 1 1 0 5 3")
            .error("a", "900000 failed retry 1 990000 2\nno")
            .delayed("b", NOW));

    assertAnswer("a", Kind.CANCELLED, 0, 4);
    BucketState after =
        bucket()
            .delayed("b", NOW)
            .tomb("a", NOW + RETENTION, "C", "body of a", NOW)
            .kept("a", NOW - 5, "0 0 1 1 1 0 5 4", "900000 failed retry 1 990000 2\nno")
            .counted("cancelled", 1);
    then(after);
    assertThat(timeToLive("cancelled")).isBetween(540_000L, 600_000L);
    assertThat(timeToLive("kept")).isBetween(540_000L, 600_000L);
    assertThat(timeToLive("done")).isBetween(RETENTION - 60_000, RETENTION);
    assertThat(timeToLive("tombs")).isBetween(RETENTION - 60_000, RETENTION);

    assertAnswer("a", Kind.CANCELLED, 0, 0);
    then(after);

    nowIs(NOW + RETENTION);
    assertAnswer("a", Kind.UNKNOWN, 0, 0);
    then(after);
  }

  @Test
  void anEngineThatKeepsTombstonesBrieflyLeavesThoseOfOthers() {
    long week = Duration.ofDays(7).toMillis();
    given(bucket().tomb("old", NOW + week, "D", "x", 1).delayed("a", NOW));

    assertAnswer("a", Kind.CANCELLED, 0, 2);

    assertThat(timeToLive("done")).isBetween(week - 60_000, week);
    assertThat(timeToLive("tombs")).isBetween(week - 60_000, week);
  }

  @Test
  void onlyTheVersionThatWasSeenIsCancelled() {
    BucketState given =
        bucket()
            .delayed("a", NOW)
            .tries("a", "0 0 1 1 1 0 5 3")
            .reserved("runs", NOW + 5, HELD)
            .tomb("ran", NOW + 1, "D", "x", 1);
    given(given);

    assertAnswer("a", new JobVersion("i-a", 2), Kind.CHANGED, 3);
    assertAnswer("a", new JobVersion("i-b", 3), Kind.CHANGED, 3);
    assertAnswer("runs", new JobVersion("i-runs", 1), Kind.CHANGED, 2);
    assertAnswer("runs", new JobVersion("i-runs", 2), Kind.IN_DELIVERY, 2);
    assertAnswer("ran", new JobVersion("i-ran", 2), Kind.CHANGED, 0);
    assertAnswer("never", new JobVersion("i-never", 1), Kind.UNKNOWN, 0);
    then(given);

    JobVersion seen = new JobVersion("i-a", 3);
    assertAnswer("a", seen, Kind.CANCELLED, 4);
    // The same call again, and one about another job of that id.
    assertAnswer("a", seen, Kind.CANCELLED, 0);
    assertAnswer("a", new JobVersion("i-b", 3), Kind.CHANGED, 0);
  }

  private void assertAnswer(String id, JobVersion seen, Kind kind, long version) {
    Cancelled cancelled = store.cancel(bucket, id, seen);
    assertThat(cancelled.kind()).isEqualTo(kind);
    assertThat(cancelled.version()).isEqualTo(version);
  }

  @Test
  void whatDoesNotWaitIsLeftAlone() {
    BucketState given =
        bucket()
            .reserved("runs", NOW + 5, "t-1 4 0 990000 980000 2 me")
            .dead("died", NOW)
            .tomb("ran", NOW + 1, "D", "x", 1)
            .tomb("cancelled", NOW + 1, "C", "x", 1)
            .tomb("forgotten", NOW, "D", "x", 1);
    given(given);

    assertAnswer("runs", Kind.IN_DELIVERY, 4, 2);
    assertAnswer("died", Kind.DEAD, 0, 1);
    assertAnswer("ran", Kind.FINISHED, 0, 0);
    assertAnswer("cancelled", Kind.CANCELLED, 0, 0);
    assertAnswer("forgotten", Kind.UNKNOWN, 0, 0);
    assertAnswer("never", Kind.UNKNOWN, 0, 0);
    then(given);
  }

  @Test
  void aCancelTrimsTombstonesThatExpired() {
    given(bucket().delayed("a", NOW).tomb("old", NOW, "D", "x", 1));

    assertAnswer("a", Kind.CANCELLED, 0, 2);
    then(
        bucket()
            .tomb("a", NOW + RETENTION, "C", "body of a", NOW)
            .kept("a", NOW, FRESH, "")
            .counted("cancelled", 1));
  }

  @Test
  void aWaitingIdWithoutARecordLeavesNothing() {
    given(bucket().with("delayed", "a", "5").tomb("old", NOW, "D", "x", 1));

    assertAnswer("a", Kind.CANCELLED, 0, 2);
    then(bucket().tomb("old", NOW, "D", "x", 1).counted("cancelled", 1));
  }

  @Test
  void aReservedIdWithoutALeaseIsInDelivery() {
    BucketState given = bucket().record("a").with("reserved", "a", "1000005");
    given(given);

    assertAnswer("a", Kind.IN_DELIVERY, 0, 0);
    then(given);
  }

  @Test
  void theHolderOfAJobThatRunsIsToldToStopIfTheCallerWantsThat() {
    BucketState others =
        bucket()
            .delayed("waits", NOW)
            .with("reserved", "unreadable", "1000005")
            .record("unreadable");
    given(others.reserved("runs", NOW + 5, "t-1 4 - 990000 980000 2 me"));

    JobVersion other = new JobVersion("i-runs", 1);
    assertThat(store.cancel(bucket, "runs", other, true).kind()).isEqualTo(Kind.CHANGED);
    BucketState after = others.reserved("runs", NOW + 5, "t-1 4 - 990000 980000 2 me cancelling");
    for (int i = 0; i < 2; i++) {
      assertThat(store.cancel(bucket, "runs", new JobVersion("i-runs", 2), true))
          .isEqualTo(new Cancelled(Kind.CANCELLING, 4, 2));
      then(after);
    }
    assertAnswer("runs", Kind.IN_DELIVERY, 4, 2);
    assertThat(store.cancel(bucket, "unreadable", null, true).kind()).isEqualTo(Kind.IN_DELIVERY);
    assertThat(store.cancel(bucket, "never", null, true).kind()).isEqualTo(Kind.UNKNOWN);
    then(after);
    assertThat(store.find(bucket, "runs").orElseThrow().cancelling()).isTrue();

    assertThat(store.cancel(bucket, "waits", null, true).kind()).isEqualTo(Kind.CANCELLED);
  }

  @Test
  void aTombstoneSaysWhoCancelledTheJob() {
    String held = "t-1 4 1 990000 980000 2 me";
    given(bucket().delayed("waits", NOW).reserved("runs", NOW + 5, held));

    store.cancel(bucket, "waits", null, false, "ada b");
    store.cancel(bucket, "runs", null, true, "shop/t1");
    store.cancel(bucket, "runs", null, true, "too late");
    then(
        bucket()
            .tomb("waits", NOW + RETENTION, "C", "body of waits", NOW, "ada_b")
            .kept("waits", NOW, FRESH, "")
            .reserved("runs", NOW + 5, held + "\u007fshop/t1 cancelling")
            .counted("cancelled", 1));

    JobView runs = store.find(bucket, "runs").orElseThrow();
    assertThat(runs.owner()).isEqualTo("me");
    assertThat(runs.cancelling()).isTrue();
    JobView waits = store.find(bucket, "waits").orElseThrow();
    assertThat(waits.ending()).isEqualTo(Ending.cancelled("ada_b"));
    assertThat(store.cancel(bucket, "waits", new JobVersion("i-waits", 1)).kind())
        .isEqualTo(Kind.CANCELLED);

    nowIs(NOW + 5);
    assertThat(store.expire(bucket, 200).cancelled()).isEqualTo(1);
    assertThat(store.find(bucket, "runs").orElseThrow().ending())
        .isEqualTo(Ending.cancelled("shop/t1"));
  }
}
