package io.punctual.core.store;

import static io.punctual.core.store.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class RequeueIT extends TransitionTestBase {

  private static final Duration DELAY = Duration.ofMillis(300);

  @Test
  void aDeadJobGetsAFreshBudgetAndKeepsItsStory() {
    given(
        bucket()
            .dead("a", 5)
            .tries("a", "1 2 3 4 5 1 6")
            .error("a", "900000 fail dead-attempts 1 990000 2\nno")
            .dead("b", 6));

    assertThat(store.requeue(bucket, List.of("a"), DELAY))
        .isEqualTo(new Requeued(List.of("a"), NOW + 300));
    then(
        bucket()
            .delayed("a", NOW + 300)
            .tries("a", "1 2 3 0 0 0 1000300")
            .error("a", "900000 fail dead-attempts 1 990000 2\nno")
            .dead("b", 6)
            .counted("requeued", 1));
  }

  @Test
  void onlyDeadJobsAreRequeued() {
    BucketState given =
        bucket()
            .delayed("waits", NOW)
            .reserved("runs", NOW + 5, HELD)
            .tomb("ran", NOW + 1, "D", "x", 1)
            .with("dead", "noRecord", "5")
            .dead("mangled", 5)
            .record("mangled", "what");
    given(given);

    assertThat(
            store.requeue(
                bucket, List.of("waits", "runs", "ran", "noRecord", "mangled", "never"), DELAY))
        .isEqualTo(new Requeued(List.of(), null));
    then(given);
  }

  @Test
  void idsWithoutARecordAreLeftDead() {
    given(bucket().dead("a", 1).with("dead", "noRecord", "0"));

    assertThat(store.requeue(bucket, List.of("noRecord", "a"), Duration.ZERO))
        .isEqualTo(new Requeued(List.of("a"), NOW));
    then(
        bucket()
            .with("dead", "noRecord", "0")
            .delayed("a", NOW)
            .tries("a", "0 0 0 0 0 0 1000000")
            .counted("requeued", 1));
  }

  @Test
  void onlyAnEarlierEarliestDueTimeIsNews() {
    given(bucket().delayed("waits", NOW + 300).dead("a", 1).dead("b", 2));

    assertThat(store.requeue(bucket, List.of("a"), DELAY).newHead()).isNull();
    assertThat(store.requeue(bucket, List.of("b"), Duration.ofMillis(299)).newHead())
        .isEqualTo(NOW + 299);
  }

  @Test
  void repeatingACallChangesNothing() {
    given(bucket().dead("a", 1));

    assertThat(store.requeue(bucket, List.of("a", "a"), DELAY).taskIds()).containsExactly("a");
    BucketState first = reader.read(bucket);
    nowIs(NOW + 50);
    assertThat(store.requeue(bucket, List.of("a", "a"), DELAY).taskIds()).isEmpty();
    then(first);
  }

  @Test
  void moreThanTwoHundredAreRefusedAndNoneIsFine() {
    assertThat(store.requeue(bucket, List.of(), DELAY).taskIds()).isEmpty();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store.requeue(bucket, Collections.nCopies(201, "a"), DELAY));
    then(bucket());
  }
}
