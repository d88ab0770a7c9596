package io.punctual.core.store.redis;

import static io.punctual.core.store.JobStore.ClaimMode.OWN;
import static io.punctual.core.store.JobStore.ClaimMode.PUSH;
import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.store.Claim;
import io.punctual.core.store.Paused;
import java.util.List;
import org.junit.jupiter.api.Test;

class PauseIT extends TransitionTestBase {

  private static BucketState paused(BucketState state, long since) {
    return state.with("control", "paused", Long.toString(since));
  }

  @Test
  void aPausedBucketHandsOutNothingAndHidesWhatIsDue() {
    BucketState given =
        bucket().delayed("a", NOW - 5).delayed("b", NOW + 5).reserved("r", NOW + 9, HELD);
    given(given);

    assertThat(store.pause(bucket, true)).isEqualTo(new Paused(NOW, null));
    then(paused(given, NOW));
    Claim nothing = new Claim(NOW, List.of(), List.of(), null, NOW + 9, NOW, false);
    assertThat(store.claim(bucket, 9, LEASE, PUSH, TOKEN, "me")).isEqualTo(nothing);
    assertThat(store.claim(bucket, 9, LEASE, OWN, TOKEN, "me")).isEqualTo(nothing);
    assertThat(store.stats(bucket).pausedSince()).isEqualTo(NOW);
    then(paused(given, NOW));
  }

  @Test
  void theFirstPauseCounts() {
    given(paused(bucket(), NOW - 7));

    assertThat(store.pause(bucket, true)).isEqualTo(new Paused(NOW - 7, null));
    then(paused(bucket(), NOW - 7));
  }

  @Test
  void whatIsLetGoIsToldToWhoeverHandsOut() {
    BucketState given = bucket().delayed("a", NOW - 5).delayed("b", NOW + 5);
    given(paused(given, NOW - 7));

    assertThat(store.pause(bucket, false)).isEqualTo(new Paused(null, NOW - 5));
    then(given);
    assertThat(store.pause(bucket, false)).isEqualTo(new Paused(null, null));
    then(given);
    assertThat(store.claim(bucket, 9, LEASE, PUSH, TOKEN, "me").jobs()).hasSize(1);
  }
}
