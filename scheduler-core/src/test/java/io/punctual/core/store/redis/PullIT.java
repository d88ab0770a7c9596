package io.punctual.core.store.redis;

import static io.punctual.core.store.JobStore.ClaimMode.GIVEN;
import static io.punctual.core.store.JobStore.ClaimMode.OWN;
import static io.punctual.core.store.JobStore.ClaimMode.PUSH;
import static io.punctual.core.store.JobStore.ClaimMode.SENT;
import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.store.Claim;
import io.punctual.core.store.ClaimedJob;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Lease;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class PullIT extends TransitionTestBase {

  private static final String OWN_TTR = "i-a 7000 - -\nbody of a";

  private BucketState afterClaim(JobStore.ClaimMode mode) {
    given(bucket().delayed("a", NOW).record("a", 3, OWN_TTR).delayed("b", NOW));
    Claim claim = store.claim(bucket, 9, LEASE, mode, TOKEN, "me");
    assertThat(claim.jobs()).hasSize(2);
    assertThat(claim.jobs().get(0).record().timeToRun()).isEqualTo(7000);
    return reader.read(bucket);
  }

  private static BucketState reserved(long untilOfA, long untilOfB, String alone) {
    String lease = "t-1 1 " + alone + " 1000000 1000000 2 me";
    return bucket()
        .reserved("a", untilOfA, lease)
        .record("a", 3, OWN_TTR)
        .reserved("b", untilOfB, lease);
  }

  @Test
  void aPullHoldsJobsForTheirOwnTimeToRun() {
    assertThat(afterClaim(OWN)).isEqualTo(reserved(NOW + 7000, NOW + 10_000, "-"));
  }

  @Test
  void aPullMayAskForAnotherTime() {
    assertThat(afterClaim(GIVEN)).isEqualTo(reserved(NOW + 10_000, NOW + 10_000, "-"));
  }

  @Test
  void aPushHoldsJobsForItsLease() {
    assertThat(afterClaim(PUSH)).isEqualTo(reserved(NOW + 10_000, NOW + 10_000, "0"));
  }

  @Test
  void aJobThatIsSentElsewhereIsHeldLikeAPushedOne() {
    assertThat(afterClaim(SENT)).isEqualTo(reserved(NOW + 10_000, NOW + 10_000, "0"));
  }

  @Test
  void aPullThatRanOutCountsOnceItWasReceived() {
    given(bucket().delayed("a", NOW).record("a", 1, "i-a\nbody of a"));

    pullAndExpire(NOW, /* received= */ false);
    then(
        bucket()
            .delayed("a", NOW)
            .record("a", 1, "i-a\nbody of a")
            .tries("a", "0 0 0 0 0 0 " + NOW + " 3")
            .counted("expired", 1));
    pullAndExpire(NOW + 20_000, /* received= */ true);
    assertThat(reader.read(bucket).values("dead")).containsOnlyKeys("a");
  }

  private void pullAndExpire(long now, boolean received) {
    nowIs(now);
    assertThat(store.claim(bucket, 9, LEASE, GIVEN, TOKEN, "me").jobs())
        .singleElement()
        .returns(1, ClaimedJob::attempt);
    if (received) {
      store.extend(bucket, List.of(new Lease("a", TOKEN)), Duration.ofMillis(1));
    }
    nowIs(now + LEASE.toMillis());
    store.expire(bucket, 9);
  }
}
