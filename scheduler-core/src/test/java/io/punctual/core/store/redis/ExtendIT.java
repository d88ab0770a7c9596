package io.punctual.core.store.redis;

import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.punctual.core.job.LeaseToken;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Lease;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ExtendIT extends TransitionTestBase {

  private Set<String> extend(Lease... leases) {
    return store.extend(bucket, List.of(leases), LEASE).lost();
  }

  @Test
  void aHeldLeaseLastsLonger() {
    given(bucket().reserved("a", NOW + 5, HELD).reserved("b", NOW + 6, HELD));

    assertThat(extend(new Lease("a", TOKEN))).isEmpty();
    then(bucket().reserved("a", NOW + 10_000, HELD).reserved("b", NOW + 6, HELD));
  }

  @Test
  void aLeaseThatRanOutIsRevivedIfNobodyTookTheJob() {
    given(bucket().reserved("a", NOW - 5_000, HELD));

    assertThat(extend(new Lease("a", TOKEN))).isEmpty();
    then(bucket().reserved("a", NOW + 10_000, HELD));
  }

  @Test
  void aPulledJobIsReceivedOnceItsLeaseIsExtended() {
    given(
        bucket()
            .reserved("a", NOW + 5, "t-1 1 - 990000 980000 2 me")
            .reserved("b", NOW + 20_000, "t-1 2 - 990000 980000 2 me"));

    assertThat(extend(new Lease("a", TOKEN), new Lease("b", TOKEN))).isEmpty();
    then(
        bucket()
            .reserved("a", NOW + 10_000, "t-1 1 1 990000 980000 2 me")
            .reserved("b", NOW + 20_000, "t-1 2 1 990000 980000 2 me"));
  }

  @Test
  void aLeaseNeverBecomesShorter() {
    BucketState given = bucket().reserved("a", NOW + 10_001, HELD);
    given(given);

    assertThat(extend(new Lease("a", TOKEN))).isEmpty();
    then(given);
  }

  @Test
  void whoLostTheLeaseIsToldAndChangesNothing() {
    BucketState given =
        bucket()
            .reserved("other", NOW + 5, "t-2 1 0 990000 980000 2 me")
            .delayed("waits", NOW)
            .dead("died", NOW)
            .record("noLease")
            .with("reserved", "noLease", "1000005")
            .delayed("staleLease", NOW)
            .with("leases", "staleLease", "i-staleLease " + HELD)
            .reserved("mangled", NOW + 5, "t-1");
    given(given);

    List<String> ids =
        List.of("other", "waits", "died", "noLease", "staleLease", "mangled", "never");
    assertThat(
            store
                .extend(bucket, ids.stream().map(id -> new Lease(id, TOKEN)).toList(), LEASE)
                .lost())
        .containsExactlyInAnyOrderElementsOf(ids);
    then(given);
  }

  @Test
  void oneCallMayHoldBothSortsAndTheSameTwice() {
    given(bucket().reserved("a", NOW + 5, HELD).reserved("b", NOW + 6, HELD));

    assertThat(
            extend(
                new Lease("a", TOKEN),
                new Lease("b", new LeaseToken("wrong")),
                new Lease("a", TOKEN)))
        .containsExactly("b");
    then(bucket().reserved("a", NOW + 10_000, HELD).reserved("b", NOW + 6, HELD));
  }

  @Test
  void repeatingACallChangesNothing() {
    given(bucket().reserved("a", NOW + 5, HELD));
    extend(new Lease("a", TOKEN));
    extend(new Lease("a", TOKEN));
    then(bucket().reserved("a", NOW + 10_000, HELD));
  }

  @Test
  void twoHundredLeasesAreExtendedAndMoreRefused() {
    BucketState given = bucket();
    Lease[] leases = new Lease[200];
    Arrays.setAll(leases, i -> new Lease("j" + i, TOKEN));
    for (int i = 0; i < 200; i++) {
      given = given.reserved("j" + i, NOW + 5, HELD);
    }
    given(given);

    assertThat(extend(leases)).isEmpty();
    assertThat(reader.read(bucket).values("reserved").values()).containsOnly("1010000");
    assertThat(extend()).isEmpty();
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> store.extend(bucket, Collections.nCopies(201, new Lease("a", TOKEN)), LEASE));
  }

  @Test
  void aHolderHearsThatItIsToStopAndKeepsItsLease() {
    given(
        bucket()
            .reserved("a", NOW + 5, "t-1 1 - 990000 980000 2 me cancelling")
            .reserved("b", NOW + 5, HELD)
            .reserved("other", NOW + 5, "another 1 0 990000 980000 2 me cancelling"));

    assertThat(
            store.extend(
                bucket,
                List.of(new Lease("a", TOKEN), new Lease("b", TOKEN), new Lease("other", TOKEN)),
                LEASE))
        .isEqualTo(new JobStore.Extended(Set.of("other"), Set.of("a")));
    then(
        bucket()
            .reserved("a", NOW + 10_000, "t-1 1 1 990000 980000 2 me cancelling")
            .reserved("b", NOW + 10_000, HELD)
            .reserved("other", NOW + 5, "another 1 0 990000 980000 2 me cancelling"));
  }
}
