package io.punctual.core.store.redis;

import static io.punctual.core.job.Pause.Scope.APPLICATION;
import static io.punctual.core.job.Pause.Scope.QUEUE;
import static io.punctual.core.store.JobStore.ClaimMode.OWN;
import static io.punctual.core.store.JobStore.ClaimMode.PUSH;
import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.Pause;
import io.punctual.core.store.Claim;
import io.punctual.core.store.Paused;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class PauseIT extends TransitionTestBase {

  private static final Pause.Terms DEPLOY = new Pause.Terms("ada", "deploy", null);

  private static BucketState paused(BucketState state, String text) {
    return state.with("control", "paused", text);
  }

  private static BucketState held(BucketState state, String text) {
    return state.with("control", "application", text);
  }

  private static Pause.Terms within(long millis) {
    return new Pause.Terms("ada", "", Duration.ofMillis(millis));
  }

  private Claim claim() {
    return store.claim(bucket, 9, LEASE, PUSH, TOKEN, "me");
  }

  @Test
  void aPausedBucketHandsOutNothingAndHidesWhatIsDue() {
    BucketState given =
        bucket().delayed("a", NOW - 5).delayed("b", NOW + 5).reserved("r", NOW + 9, HELD);
    given(given);

    assertThat(store.pause(bucket, QUEUE, DEPLOY)).isEqualTo(new Paused(NOW, null));
    BucketState paused = paused(given, NOW + " 0 ada\ndeploy");
    then(paused);
    Claim nothing = new Claim(NOW, List.of(), List.of(), null, NOW + 9, NOW, false);
    assertThat(claim()).isEqualTo(nothing);
    assertThat(store.claim(bucket, 9, LEASE, OWN, TOKEN, "me")).isEqualTo(nothing);
    assertThat(store.stats(bucket).pauses())
        .containsExactly(new Pause(QUEUE, NOW, null, "ada", "deploy"));
    then(paused);
  }

  @Test
  void theFirstPauseCountsAndTheLastTermsDo() {
    given(paused(bucket().delayed("a", NOW - 5), Long.toString(NOW - 7)));

    // A scanner that sleeps until it is resumed has to know of the end.
    assertThat(store.pause(bucket, QUEUE, within(30))).isEqualTo(new Paused(NOW - 7, NOW - 5));
    then(paused(bucket().delayed("a", NOW - 5), NOW - 7 + " " + (NOW + 30) + " ada\n"));
  }

  @Test
  void aPauseEndsByItself() {
    BucketState given = bucket().delayed("a", NOW - 5).delayed("b", NOW + 50);
    given(paused(given, NOW - 7 + " " + (NOW + 1) + " ada\n"));
    assertThat(claim())
        .isEqualTo(new Claim(NOW, List.of(), List.of(), NOW + 1, null, NOW - 7, false));

    given(paused(given, NOW - 7 + " " + NOW + " ada\n"));
    assertThat(store.stats(bucket).pauses()).isEmpty();
    assertThat(claim().jobs()).hasSize(1);
    // It is another one from now on.
    assertThat(store.pause(bucket, QUEUE, DEPLOY).since()).isEqualTo(NOW);
  }

  @Test
  void bothPausesHaveToEnd() {
    BucketState given = bucket().delayed("a", NOW - 5);
    given(held(given, NOW - 9 + " " + (NOW + 5) + " bea\n"));
    assertThat(claim())
        .isEqualTo(new Claim(NOW, List.of(), List.of(), NOW + 5, null, NOW - 9, false));
    assertThat(store.pause(bucket, QUEUE, within(3)).since()).isEqualTo(NOW);
    assertThat(claim().nextDue()).isEqualTo(NOW + 5);
    assertThat(store.pause(bucket, QUEUE, within(8)).since()).isEqualTo(NOW);
    assertThat(claim().nextDue()).isEqualTo(NOW + 8);
    assertThat(store.pause(bucket, APPLICATION, DEPLOY).since()).isEqualTo(NOW - 9);
    assertThat(claim().nextDue()).isNull();
    assertThat(store.stats(bucket).pauses())
        .extracting(Pause::scope)
        .containsExactly(QUEUE, APPLICATION);

    assertThat(store.pause(bucket, QUEUE, null)).isEqualTo(new Paused(null, NOW - 5));
    assertThat(claim().jobs()).isEmpty();
    assertThat(store.pause(bucket, APPLICATION, null)).isEqualTo(new Paused(null, NOW - 5));
    then(given);
    assertThat(claim().jobs()).hasSize(1);
  }

  @Test
  void whatIsLetGoIsToldToWhoeverHandsOut() {
    BucketState given = bucket().delayed("a", NOW - 5).delayed("b", NOW + 5);
    given(paused(given, Long.toString(NOW - 7)));

    assertThat(store.pause(bucket, false)).isEqualTo(new Paused(null, NOW - 5));
    then(given);
    assertThat(store.pause(bucket, false)).isEqualTo(new Paused(null, null));
    then(given);
    assertThat(claim().jobs()).hasSize(1);
  }

  @Test
  void whatIsNotOfItsFormIsNoPause() {
    given(paused(held(bucket().delayed("a", NOW - 5), ""), "soon"));

    assertThat(store.stats(bucket).pauses()).isEmpty();
    assertThat(claim().jobs()).hasSize(1);
  }
}
