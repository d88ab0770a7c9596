package io.punctual.core.store.redis;

import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.punctual.core.job.JobVersion;
import io.punctual.core.store.Requeue;
import io.punctual.core.store.Requeued;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class RequeueIT extends TransitionTestBase {

  private static final Requeued.Item REFUSED = new Requeued.Item(Requeued.Kind.REFUSED, null);

  private Requeued requeue(Duration delay, String... ids) {
    return store.requeue(bucket, Arrays.stream(ids).map(Requeue::of).toList(), delay);
  }

  private static Requeued.Item requeued(String id, long version) {
    return new Requeued.Item(Requeued.Kind.REQUEUED, new JobVersion("i-" + id, version));
  }

  private static final Duration DELAY = Duration.ofMillis(300);

  @Test
  void aDeadJobGetsAFreshBudgetAndKeepsItsStory() {
    given(
        bucket()
            .dead("a", 5)
            .tries("a", "1 2 3 4 5 1 6 3")
            .error("a", "900000 failed dead-attempts 1 990000 2\nno")
            .dead("b", 6));

    assertThat(requeue(DELAY, "a")).isEqualTo(new Requeued(List.of(requeued("a", 4)), NOW + 300));
    then(
        bucket()
            .delayed("a", NOW + 300)
            .tries("a", "1 2 3 0 0 0 1000300 4")
            .error("a", "900000 failed dead-attempts 1 990000 2\nno")
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

    assertThat(requeue(DELAY, "waits", "runs", "ran", "noRecord", "mangled", "never"))
        .isEqualTo(new Requeued(Collections.nCopies(6, REFUSED), null));
    then(given);
  }

  @Test
  void idsWithoutARecordAreLeftDead() {
    given(bucket().dead("a", 1).with("dead", "noRecord", "0"));

    assertThat(requeue(Duration.ZERO, "noRecord", "a"))
        .isEqualTo(new Requeued(List.of(REFUSED, requeued("a", 2)), NOW));
    then(
        bucket()
            .with("dead", "noRecord", "0")
            .delayed("a", NOW)
            .tries("a", "0 0 0 0 0 0 1000000 2")
            .counted("requeued", 1));
  }

  @Test
  void onlyTheVersionThatWasSeenIsRequeued() {
    BucketState given = bucket().dead("a", 1).tries("a", "0 0 1 1 1 0 5 3").dead("b", 2);
    given(given);
    Requeued.Item changed = new Requeued.Item(Requeued.Kind.CHANGED, new JobVersion("i-a", 3));

    assertThat(
            store
                .requeue(
                    bucket,
                    List.of(
                        new Requeue("a", new JobVersion("i-a", 2)),
                        new Requeue("a", new JobVersion("i-b", 3)),
                        new Requeue("never", new JobVersion("i-never", 1))),
                    DELAY)
                .items())
        .containsExactly(changed, changed, REFUSED);
    then(given);
    assertThat(
            store
                .requeue(bucket, List.of(new Requeue("a", new JobVersion("i-a", 3))), DELAY)
                .items())
        .containsExactly(requeued("a", 4));
  }

  @Test
  void onlyAnEarlierEarliestDueTimeIsNews() {
    given(bucket().delayed("waits", NOW + 300).dead("a", 1).dead("b", 2));

    assertThat(requeue(DELAY, "a").newHead()).isNull();
    assertThat(requeue(Duration.ofMillis(299), "b").newHead()).isEqualTo(NOW + 299);
  }

  @Test
  void repeatingACallChangesNothing() {
    given(bucket().dead("a", 1));

    assertThat(requeue(DELAY, "a", "a").items()).containsExactly(requeued("a", 2), REFUSED);
    BucketState first = reader.read(bucket);
    nowIs(NOW + 50);
    assertThat(requeue(DELAY, "a", "a").items())
        .extracting(Requeued.Item::kind)
        .containsOnly(Requeued.Kind.REFUSED);
    then(first);
  }

  @Test
  void moreThanTwoHundredAreRefusedAndNoneIsFine() {
    assertThat(requeue(DELAY).items()).isEmpty();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store.requeue(bucket, Collections.nCopies(201, Requeue.of("a")), DELAY));
    then(bucket());
  }
}
