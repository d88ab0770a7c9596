package io.punctual.core.store.redis;

import static io.punctual.core.store.JobStore.ClaimMode.PUSH;
import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.punctual.core.job.AttemptCounts;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.store.Claim;
import io.punctual.core.store.ClaimedJob;
import io.punctual.core.store.JobStore;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClaimIT extends TransitionTestBase {

  private Claim claim(int max) {
    return store.claim(bucket, max, LEASE, PUSH, TOKEN, "me");
  }

  @Test
  void whatIsDueIsHandedOutEarliestFirst() {
    given(
        bucket()
            .delayed("late", NOW + 1)
            .delayed("second", NOW)
            .delayed("third", NOW)
            .delayed("first", NOW - 5));

    Claim claim = claim(200);

    assertThat(claim.now()).isEqualTo(NOW);
    assertThat(claim.jobs())
        .extracting(ClaimedJob::taskId)
        .containsExactly("first", "second", "third");
    assertThat(claim.jobs()).extracting(ClaimedJob::due).containsExactly(NOW - 5, NOW, NOW);
    assertThat(claim.corrupt()).isEmpty();
    assertThat(claim.nextDue()).isEqualTo(NOW + 1);
    assertThat(claim.nextDeadline()).isEqualTo(NOW + 10_000);
    ClaimedJob first = claim.jobs().get(0);
    assertThat(first.attempt()).isEqualTo(1);
    assertThat(first.tries()).isEqualTo(AttemptCounts.NONE);
    assertThat(first.token()).isEqualTo(TOKEN);
    assertThat(first.record().incarnation()).isEqualTo("i-first");
    assertThat(first.record().maxAttempts()).isEqualTo(3);
    assertThat(first.record().acceptedAt()).isEqualTo(500_000);
    assertThat(text(first.record().content())).isEqualTo("body of first");
    then(
        bucket()
            .delayed("late", NOW + 1)
            .reserved("first", NOW + 10_000, "t-1 1 0 1000000 999995 2 me")
            .reserved("second", NOW + 10_000, "t-1 1 0 1000000 1000000 2 me")
            .reserved("third", NOW + 10_000, "t-1 1 0 1000000 1000000 2 me"));
  }

  @Test
  void aJobIsNeverHandedOutEarly() {
    BucketState given = bucket().delayed("a", NOW + 1).dead("b", NOW - 1);
    given(given);

    Claim claim = claim(200);

    assertThat(claim.jobs()).isEmpty();
    assertThat(claim.nextDue()).isEqualTo(NOW + 1);
    assertThat(claim.nextDeadline()).isNull();
    then(given);

    nowIs(NOW + 1);
    assertThat(claim(200).jobs()).hasSize(1);
  }

  @Test
  void aForeignDueTimeThatIsNoIntegerBreaksNoClaim() {
    given(bucket().delayed("a", 7));
    client.zadd(reader.key(bucket, "delayed"), 7.4, "a".getBytes(StandardCharsets.US_ASCII));

    assertThat(claim(200).jobs()).extracting(ClaimedJob::due).containsExactly(7L);
    then(bucket().reserved("a", NOW + 10_000, "t-1 1 0 1000000 7 2 me"));
  }

  @Test
  void noMoreAreHandedOutThanWereAskedFor() {
    given(bucket().delayed("a", 1).delayed("b", 2).delayed("c", 3));

    Claim claim = claim(2);

    assertThat(claim.jobs()).extracting(ClaimedJob::taskId).containsExactly("a", "b");
    assertThat(claim.nextDue()).isEqualTo(3);
    then(
        bucket()
            .reserved("a", NOW + 10_000, "t-1 1 0 1000000 1 2 me")
            .reserved("b", NOW + 10_000, "t-1 1 0 1000000 2 2 me")
            .delayed("c", 3));
  }

  @Test
  void anEmptyBucketSaysThatNothingIsThere() {
    Claim claim = claim(200);

    assertThat(claim.jobs()).isEmpty();
    assertThat(claim.nextDue()).isNull();
    assertThat(claim.nextDeadline()).isNull();
    then(bucket());
  }

  @Test
  void largeJobsAreHandedOutAFewAtATime() {
    String large = "i-x\n" + "x".repeat(JobStore.MAX_CLAIMED_BYTES / 4 - 12);
    BucketState given = bucket();
    for (int i = 0; i < 10; i++) {
      given = given.delayed("small-" + i, NOW - 20 + i).delayed("large-" + i, NOW - 10 + i);
      given = given.record("large-" + i, 3, large);
    }
    given(given.without("jobs", "small-3"));

    assertThat(claim(200).jobs())
        .extracting(ClaimedJob::taskId)
        .hasSize(12)
        .endsWith("small-9", "large-0", "large-1", "large-2");
    Claim second = claim(200);
    assertThat(second.jobs())
        .extracting(ClaimedJob::taskId)
        .containsExactly("large-3", "large-4", "large-5", "large-6");
    assertThat(second.nextDue()).isEqualTo(NOW - 3);
    assertThat(claim(2).jobs()).hasSize(2);
    assertThat(claim(200).jobs()).extracting(ClaimedJob::taskId).containsExactly("large-9");
  }

  @Test
  void aJobThatIsLargerThanAClaimIsHandedOutAlone() {
    String huge = "i-x\n" + "x".repeat(2 * JobStore.MAX_CLAIMED_BYTES);
    given(
        bucket()
            .delayed("a", NOW - 2)
            .record("a", 3, huge)
            .delayed("b", NOW - 1)
            .record("b", 3, huge)
            .delayed("c", NOW));

    assertThat(claim(200).jobs()).extracting(ClaimedJob::taskId).containsExactly("a");
    assertThat(claim(200).jobs()).extracting(ClaimedJob::taskId).containsExactly("b");
    assertThat(claim(200).jobs()).extracting(ClaimedJob::taskId).containsExactly("c");
  }

  @Test
  void whatIsReservedStaysSoEvenWhenItsLeaseRanOut() {
    BucketState given = bucket().reserved("a", NOW - 1, HELD);
    given(given);

    Claim claim = claim(200);

    assertThat(claim.jobs()).isEmpty();
    assertThat(claim.nextDeadline()).isEqualTo(NOW - 1);
    then(given);
  }

  @Test
  void theAttemptCountsUnknownAndFailedOnesButNotUndeliverableOnes() {
    given(bucket().delayed("a", 7).tries("a", "40 2 3 1 5 0 900000 3"));

    Claim claim = claim(200);

    assertThat(claim.jobs().get(0).attempt()).isEqualTo(6);
    assertThat(claim.jobs().get(0).tries())
        .isEqualTo(new AttemptCounts(40, 2, 3, 1, 5, /* suspect= */ false, 900_000, 3, 0));
    then(
        bucket()
            .reserved("a", NOW + 10_000, "t-1 6 0 1000000 7 4 me")
            .tries("a", "40 2 3 1 5 0 900000 3"));
  }

  @Test
  void aSuspectTravelsAlone() {
    given(bucket().delayed("a", 7).tries("a", "0 1 0 0 1 1 900000 3"));

    assertThat(claim(200).jobs().get(0).tries().suspect()).isTrue();
    then(
        bucket()
            .reserved("a", NOW + 10_000, "t-1 2 1 1000000 7 4 me")
            .tries("a", "0 1 0 0 1 1 900000 3"));
  }

  @Test
  void anIdWithoutARecordIsKeptAsDeadAndReported() {
    given(bucket().with("delayed", "gone", "3").delayed("a", 4));

    Claim claim = claim(200);

    assertThat(claim.corrupt()).containsExactly("gone");
    assertThat(claim.jobs()).extracting(ClaimedJob::taskId).containsExactly("a");
    then(
        bucket()
            .with("dead", "gone", "1000000")
            .error("gone", "1000000 corrupt dead-corrupt 0 0 0\n")
            .reserved("a", NOW + 10_000, "t-1 1 0 1000000 4 2 me")
            .counted("dead", 1));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "no header",
        "no header\n, and two lines",
        "\0\3",
        "\0\3......",
        "\0\3......\n",
        "\0\3......i",
        "\0\3...... 5\nx",
        "\0\3......i/j\nx",
        "\0\3......i x\nx",
        "\0\3......i 5tag\nx",
        "\0\3......i 1234567890123456789\nx",
        "\4\3......i\nx"
      })
  void aMangledRecordStopsNobodyElse(String record) {
    given(bucket().delayed("a", 3).record("a", record).delayed("b", 4));

    Claim claim = claim(200);

    assertThat(claim.corrupt()).containsExactly("a");
    assertThat(claim.jobs()).extracting(ClaimedJob::taskId).containsExactly("b");
    then(
        bucket()
            .dead("a", NOW)
            .record("a", record)
            .error("a", "1000000 corrupt dead-corrupt 0 0 0\n")
            .reserved("b", NOW + 10_000, "t-1 1 0 1000000 4 2 me")
            .counted("dead", 1));
    assertThat(store.find(bucket, "a").orElseThrow().record()).isNull();
  }

  @Test
  void mangledTriesCountAsNone() {
    given(bucket().delayed("a", 7).tries("a", "what?"));

    ClaimedJob job = claim(200).jobs().get(0);

    assertThat(job.attempt()).isEqualTo(1);
    assertThat(job.tries()).isEqualTo(AttemptCounts.NONE);
  }

  @Test
  void aRepeatedClaimTakesTheNextJobsAndLeavesTheFirstAlone() {
    given(bucket().delayed("a", 1).delayed("b", 2));

    claim(1);
    assertThat(claim(1).jobs()).extracting(ClaimedJob::taskId).containsExactly("b");
    assertThat(claim(1).jobs()).isEmpty();
    then(
        bucket()
            .reserved("a", NOW + 10_000, "t-1 1 0 1000000 1 2 me")
            .reserved("b", NOW + 10_000, "t-1 1 0 1000000 2 2 me"));
  }

  @Test
  void twoHundredAreTheMostOfOneCall() {
    BucketState given = bucket();
    for (int i = 0; i < 201; i++) {
      given = given.delayed("j" + i, i);
    }
    given(given);

    assertThat(claim(200).jobs()).hasSize(200);
    assertThat(claim(200).jobs()).extracting(ClaimedJob::taskId).containsExactly("j200");
    assertThatIllegalArgumentException().isThrownBy(() -> claim(201));
    assertThatIllegalArgumentException().isThrownBy(() -> claim(0));
  }

  @Test
  void whatTheScriptReliesOnIsChecked() {
    assertThatIllegalArgumentException().isThrownBy(() -> new LeaseToken("with space"));
    assertThatIllegalArgumentException().isThrownBy(() -> new LeaseToken(""));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store.claim(bucket, 1, LEASE, PUSH, TOKEN, "with space"));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store.claim(bucket, 1, Duration.ZERO, PUSH, TOKEN, "me"));
  }
}
