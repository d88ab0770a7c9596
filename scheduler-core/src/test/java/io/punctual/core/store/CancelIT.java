package io.punctual.core.store;

import static io.punctual.core.store.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.CancelResult;
import io.punctual.CancelResult.Outcome;
import org.junit.jupiter.api.Test;

class CancelIT extends TransitionTestBase {

  private void assertAnswer(String id, Outcome outcome, int attempt) {
    assertThat(store.cancel(bucket, id)).isEqualTo(new CancelResult(outcome, attempt));
  }

  @Test
  void aWaitingJobIsGoneAndItsIdRemembered() {
    given(
        bucket()
            .delayed("a", NOW - 5)
            .tries("a", "0 0 1 1 1 0 5")
            .error("a", "900000 fail retry 1 990000 2\nno")
            .delayed("b", NOW));

    assertAnswer("a", Outcome.CANCELLED, 0);
    BucketState after =
        bucket()
            .delayed("b", NOW)
            .tomb("a", NOW + RETENTION, "C", "body of a", NOW)
            .counted("cancelled", 1);
    then(after);
    assertThat(timeToLive("done")).isBetween(RETENTION - 60_000, RETENTION);
    assertThat(timeToLive("tombs")).isBetween(RETENTION - 60_000, RETENTION);

    assertAnswer("a", Outcome.CANCELLED, 0);
    then(after);

    nowIs(NOW + RETENTION);
    assertAnswer("a", Outcome.UNKNOWN, 0);
    then(after);
  }

  @Test
  void theAnswerSaysWhichJobIsGone() {
    given(bucket().delayed("a", NOW).delayed("lost", NOW).without("jobs", "lost"));

    CancelResult cancelled = new CancelResult(Outcome.CANCELLED, 0);
    assertThat(store.cancel(bucket, "a")).isEqualTo(cancelled);
    assertThat(store.cancel(bucket, "a")).isEqualTo(cancelled);
    assertThat(store.cancel(bucket, "lost")).isEqualTo(cancelled);
  }

  @Test
  void whatDoesNotWaitIsLeftAlone() {
    BucketState given =
        bucket()
            .reserved("runs", NOW + 5, "t-1 4 0 990000 980000 me")
            .dead("died", NOW)
            .tomb("ran", NOW + 1, "D", "x", 1)
            .tomb("cancelled", NOW + 1, "C", "x", 1)
            .tomb("forgotten", NOW, "D", "x", 1);
    given(given);

    assertAnswer("runs", Outcome.IN_DELIVERY, 4);
    assertAnswer("died", Outcome.DEAD, 0);
    assertAnswer("ran", Outcome.FINISHED, 0);
    assertAnswer("cancelled", Outcome.CANCELLED, 0);
    assertAnswer("forgotten", Outcome.UNKNOWN, 0);
    assertAnswer("never", Outcome.UNKNOWN, 0);
    then(given);
  }

  @Test
  void aCancelTrimsTombstonesThatExpired() {
    given(bucket().delayed("a", NOW).tomb("old", NOW, "D", "x", 1));

    assertAnswer("a", Outcome.CANCELLED, 0);
    then(bucket().tomb("a", NOW + RETENTION, "C", "body of a", NOW).counted("cancelled", 1));
  }

  @Test
  void aWaitingIdWithoutARecordLeavesNothing() {
    given(bucket().with("delayed", "a", "5").tomb("old", NOW, "D", "x", 1));

    assertAnswer("a", Outcome.CANCELLED, 0);
    then(bucket().tomb("old", NOW, "D", "x", 1).counted("cancelled", 1));
  }

  @Test
  void aReservedIdWithoutALeaseIsInDelivery() {
    BucketState given = bucket().record("a").with("reserved", "a", "1000005");
    given(given);

    assertAnswer("a", Outcome.IN_DELIVERY, 0);
    then(given);
  }
}
