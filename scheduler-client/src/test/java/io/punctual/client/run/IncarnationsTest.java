package io.punctual.client.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.client.lease.JobLease;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class IncarnationsTest {

  private final Incarnations incarnations = new Incarnations(10);

  @Test
  void aJobThatDoesNotEndKeepsNoOtherInMemory() {
    Incarnations.Decision hangs = decide("hangs", 1);
    for (int i = 0; i < 1_000; i++) {
      end(decide("job-" + i, 1), CallbackResult.DONE);
    }

    assertThat(incarnations.size()).isEqualTo(11);
    assertThat(decide("hangs", 2).verdict()).isEqualTo(Incarnations.Verdict.SHARE);
    end(hangs, CallbackResult.DONE);
    assertThat(incarnations.size()).isEqualTo(10);
    assertThat(decide("hangs", 2).verdict()).isEqualTo(Incarnations.Verdict.SHARE);
  }

  @Test
  void jobsThatRunAreNeverForgotten() {
    for (int i = 0; i < 100; i++) {
      decide("running-" + i, 1);
    }

    assertThat(incarnations.size()).isEqualTo(100);
    assertThat(decide("running-0", 1).verdict()).isEqualTo(Incarnations.Verdict.SHARE);
  }

  @Test
  void aLaterAttemptOfAJobThatFailedIsKeptAsLongAsItRuns() {
    end(decide("job", 1), CallbackResult.RETRY);
    Incarnations.Decision second = decide("job", 2);
    for (int i = 0; i < 1_000; i++) {
      end(decide("other-" + i, 1), CallbackResult.DONE);
    }

    assertThat(second.verdict()).isEqualTo(Incarnations.Verdict.RUN);
    assertThat(decide("job", 1).verdict()).isEqualTo(Incarnations.Verdict.STALE);
    end(second, CallbackResult.DONE);
    assertThat(decide("job", 3).verdict()).isEqualTo(Incarnations.Verdict.SHARE);
    assertThat(incarnations.size()).isEqualTo(10);
  }

  @Test
  void aJobThatWasRevisedRunsThoughItsIdWasDone() {
    end(decide("job", "first", 1), CallbackResult.DONE);

    assertThat(decide("job", "revised", 1).verdict()).isEqualTo(Incarnations.Verdict.RUN);
    assertThat(decide("job", "first", 2).verdict()).isEqualTo(Incarnations.Verdict.SHARE);
  }

  @Test
  void aDeliveryOfOlderContentIsStale() {
    assertThat(verdict("revised", 5, 2_000)).isEqualTo(Incarnations.Verdict.RUN);

    assertThat(verdict("original", 2, 1_000)).isEqualTo(Incarnations.Verdict.STALE);
  }

  @Test
  void aDeliveryThatWasClaimedAgainWithoutAnAttemptIsNewer() {
    assertThat(verdict("i", 4, 2_000)).isEqualTo(Incarnations.Verdict.RUN);

    assertThat(verdict("i", 2, 1_000)).isEqualTo(Incarnations.Verdict.STALE);
  }

  @Test
  void aNewJobOfAnIdThatWasFreeRunsThoughItsVersionsBeginAgain() {
    assertThat(verdict("first", 7, 1_000)).isEqualTo(Incarnations.Verdict.RUN);

    assertThat(verdict("second", 2, 2_000)).isEqualTo(Incarnations.Verdict.RUN);
  }

  @Test
  void aNewerVersionRunsThoughTheClockOfRedisWasSetBack() {
    assertThat(verdict("first", 2, 2_000)).isEqualTo(Incarnations.Verdict.RUN);

    assertThat(verdict("revised", 5, 1_000)).isEqualTo(Incarnations.Verdict.RUN);
  }

  @Test
  void aJobThatRedisForgotToHaveTriedRunsAgain() {
    Incarnations.Decision second = incarnations.decide(job("id", "i", 2, 4, 2_000), new NoLease());
    end(second, CallbackResult.RETRY);

    assertThat(verdict("i", 2, 3_000)).isEqualTo(Incarnations.Verdict.RUN);
  }

  @Test
  void aDeliveryOfASchedulerThatNamesNoVersionIsNotTakenForOlder() {
    assertThat(verdict("first", 7, 1_000)).isEqualTo(Incarnations.Verdict.RUN);

    assertThat(verdict("second", 0, 0)).isEqualTo(Incarnations.Verdict.RUN);
  }

  @Test
  void theNewestDeliveryIsForgottenWithItsIncarnation() {
    end(incarnations.decide(job("id", "i", 1, 5, 2_000), new NoLease()), CallbackResult.DONE);
    for (int i = 0; i < 10; i++) {
      end(decide("other-" + i, 1), CallbackResult.DONE);
    }

    assertThat(verdict("older", 2, 1_000)).isEqualTo(Incarnations.Verdict.RUN);
  }

  private static void end(Incarnations.Decision decision, String outcome) {
    decision.result().complete(new CallbackResult("", "", outcome, null, null, null));
  }

  private Incarnations.Decision decide(String id, int attempt) {
    return decide(id, id, attempt);
  }

  private Incarnations.Decision decide(String id, String incarnation, int attempt) {
    return incarnations.decide(job(id, incarnation, attempt, 1 + attempt, attempt), new NoLease());
  }

  private Incarnations.Verdict verdict(String incarnation, long version, long claimedAt) {
    return incarnations
        .decide(job("id", incarnation, 1, version, claimedAt), new NoLease())
        .verdict();
  }

  private static CallbackRequest.Job job(
      String id, String incarnation, int attempt, long version, long claimedAt) {
    return new CallbackRequest.Job(
        id, "type", incarnation, attempt, version, claimedAt, 1, null, 1_000, "", Map.of(), null);
  }

  private static final class NoLease implements JobLease {

    @Override
    public void extend(Duration timeToRun) {}

    @Override
    public String defer(Duration within) {
      return "handle";
    }

    @Override
    public void remind(Duration timeToRun) {}

    @Override
    public void onLost(Runnable action) {}
  }
}
