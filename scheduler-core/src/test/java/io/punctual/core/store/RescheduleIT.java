package io.punctual.core.store;

import static io.punctual.core.store.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.RescheduleResult;
import io.punctual.RescheduleResult.Outcome;
import io.punctual.core.job.Due;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class RescheduleIT extends TransitionTestBase {

  private static Rescheduled rescheduled(long due) {
    return new Rescheduled(
        new RescheduleResult(Outcome.RESCHEDULED, Instant.ofEpochMilli(due), 0), null);
  }

  private static Rescheduled newHead(long due) {
    return new Rescheduled(rescheduled(due).result(), due);
  }

  @Test
  void aWaitingJobMovesToAnInstantOrByADelay() {
    given(bucket().delayed("a", NOW + 5).delayed("first", 1));

    assertThat(store.reschedule(bucket, "a", Due.at(NOW + 99))).isEqualTo(rescheduled(NOW + 99));
    then(bucket().delayed("a", NOW + 99).delayed("first", 1));
    assertThat(store.reschedule(bucket, "a", Due.in(7))).isEqualTo(rescheduled(NOW + 7));
    then(bucket().delayed("a", NOW + 7).delayed("first", 1));
    assertThat(store.reschedule(bucket, "a", Due.in(7))).isEqualTo(rescheduled(NOW + 7));
    then(bucket().delayed("a", NOW + 7).delayed("first", 1));
  }

  @Test
  void theFirstDueTimeOfATriedJobMovesWithIt() {
    given(
        bucket()
            .delayed("a", NOW + 5)
            .tries("a", "1 2 3 4 5 1 6")
            .error("a", "900000 fail retry\nno"));

    store.reschedule(bucket, "a", Due.at(NOW + 99));
    then(
        bucket()
            .delayed("a", NOW + 99)
            .tries("a", "1 2 3 4 5 1 1000099")
            .error("a", "900000 fail retry\nno"));
  }

  @Test
  void onlyAnEarlierEarliestDueTimeIsNews() {
    given(bucket().delayed("a", NOW + 100).delayed("b", NOW + 200));

    assertThat(store.reschedule(bucket, "b", Due.in(100))).isEqualTo(rescheduled(NOW + 100));
    assertThat(store.reschedule(bucket, "b", Due.in(99))).isEqualTo(newHead(NOW + 99));
    assertThat(store.reschedule(bucket, "b", Due.in(99))).isEqualTo(rescheduled(NOW + 99));
    assertThat(store.reschedule(bucket, "b", Due.in(500))).isEqualTo(rescheduled(NOW + 500));
    assertThat(store.reschedule(bucket, "a", Due.in(0))).isEqualTo(newHead(NOW));
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
    assertAnswer("cancelled", Outcome.UNKNOWN, 0);
    assertAnswer("forgotten", Outcome.UNKNOWN, 0);
    assertAnswer("never", Outcome.UNKNOWN, 0);
    then(given);
  }

  private void assertAnswer(String id, Outcome outcome, int attempt) {
    assertThat(store.reschedule(bucket, id, Due.in(0)))
        .isEqualTo(new Rescheduled(new RescheduleResult(outcome, null, attempt), null));
  }
}
