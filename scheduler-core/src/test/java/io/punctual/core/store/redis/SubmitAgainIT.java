package io.punctual.core.store.redis;

import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.punctual.conflict.OnConflict;
import io.punctual.conflict.OnConflict.Keep;
import io.punctual.conflict.OnConflict.WhileRunning;
import io.punctual.core.job.Due;
import io.punctual.core.job.IndexTags;
import io.punctual.core.job.JobRecord;
import io.punctual.core.job.JobState;
import io.punctual.core.job.JobVersion;
import io.punctual.core.job.Origin;
import io.punctual.core.store.Cancelled;
import io.punctual.core.store.Expired;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Settled;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.Settlement.Op;
import io.punctual.core.store.Submission;
import io.punctual.core.store.Submitted;
import io.punctual.core.store.Submitted.Kind;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Debounce, and the one job that waits for the end of another one. */
class SubmitAgainIT extends TransitionTestBase {

  private static final OnConflict QUEUE_ONE = OnConflict.whileRunning(WhileRunning.QUEUE_ONE);
  private static final OnConflict DROP = OnConflict.whileRunning(WhileRunning.DROP);
  private static final OnConflict REPLACE_QUEUED =
      OnConflict.whileRunning(WhileRunning.REPLACE_QUEUED);
  private static final OnConflict LAST = OnConflict.debounce(Duration.ofSeconds(10), Keep.LAST);
  private static final OnConflict FIRST = OnConflict.debounce(Duration.ofSeconds(10), Keep.FIRST);

  private static final String UNTRIED = "0 0 0 0 0 0 ";
  private static final String FAILED_ONCE = "0 0 1 1 1 0 980000 3";

  private static Submission job(Due due, OnConflict rule, String content) {
    return new Submission(
        "a", "new-" + content, due, 5, 0, Origin.UNKNOWN, List.of(), bytes(content), rule);
  }

  private static Submission trigger(OnConflict rule, String content) {
    return job(Due.in(1000), rule, content);
  }

  private static String record(long accepted, String content) {
    return BucketState.numbers(5, accepted) + "new-" + content + "\n" + content;
  }

  /** As it waits for the end of another one. */
  private static String waiting(String due, String content) {
    return due + "\n" + record(0, content).substring(6);
  }

  private Submitted.Item submit(Submission job) {
    return store.submit(bucket, List.of(job)).items().get(0);
  }

  private static Submitted.Item merged(long due, String incarnation, long version) {
    return new Submitted.Item(Kind.MERGED, due, 0, null, new JobVersion(incarnation, version));
  }

  private Settled settle(Op op) {
    Settlement end =
        new Settlement(op, "a", "i-a", TOKEN, Duration.ofMillis(700), false, bytes(""));
    return store.settle(bucket, List.of(end)).get(0);
  }

  private static BucketState running() {
    return bucket().reserved("a", NOW + 5, HELD);
  }

  @Test
  void theFirstTriggerOpensAWindow() {
    assertThat(submit(trigger(LAST, "1")))
        .isEqualTo(
            new Submitted.Item(Kind.CREATED, NOW + 1000, 0, null, new JobVersion("new-1", 1)));
    then(
        bucket()
            .record("a", record(NOW, "1"))
            .with("delayed", "a", "1001000")
            .counted("submitted", 1));
  }

  @Test
  void eachTriggerPutsTheJobOffAndTheLastOneIsRun() {
    submit(trigger(LAST, "1"));
    nowIs(NOW + 900);

    assertThat(submit(trigger(LAST, "2"))).isEqualTo(merged(NOW + 1900, "new-2", 2));
    then(
        bucket()
            .record("a", record(NOW, "2"))
            .with("delayed", "a", "1001900")
            .tries("a", UNTRIED + "1001900 2")
            .counted("submitted", 1));
  }

  @Test
  void theFirstOneIsRunIfItIsKeptUnderAnotherIncarnation() {
    submit(trigger(FIRST, "1"));
    nowIs(NOW + 900);

    assertThat(submit(trigger(FIRST, "2"))).isEqualTo(merged(NOW + 1900, "new-2", 2));
    then(
        bucket()
            .record("a", BucketState.numbers(5, NOW) + "new-2\n1")
            .with("delayed", "a", "1001900")
            .tries("a", UNTRIED + "1001900 2")
            .counted("submitted", 1));
  }

  @Test
  void noTriggerIsPutOffBeyondTheBound() {
    submit(trigger(LAST, "1"));
    nowIs(NOW + 9_500);

    assertThat(submit(trigger(LAST, "2")).due()).isEqualTo(NOW + 10_000);
    nowIs(NOW + 10_400);
    assertThat(submit(trigger(LAST, "3")).due()).isEqualTo(NOW + 10_000);
  }

  @Test
  void tagsAreThoseOfTheContentThatIsRun() {
    store.submit(
        bucket,
        List.of(
            new Submission("a", "new-1", Due.in(9), 5, 0, List.of("x", "y"), bytes("1"), false)));
    for (OnConflict rule : List.of(FIRST, QUEUE_ONE)) {
      submit(new Submission("a", "i", Due.in(9), 5, 0, origin(), List.of("z"), bytes("1"), rule));
      assertThat(reader.read(bucket).values("tags").keySet()).containsExactly("x a", "y a");
    }
    submit(
        new Submission("a", "i", Due.in(9), 5, 0, origin(), List.of("y", "z"), bytes("2"), LAST));
    assertThat(reader.read(bucket).values("tags").keySet()).containsExactly("y a", "z a");
  }

  private static Origin origin() {
    return Origin.UNKNOWN;
  }

  @Test
  void anUnreachableApplicationIsNotCalledEarlierForATrigger() {
    given(bucket().delayed("a", NOW + 3000).tries("a", "2 0 0 0 0 0 980000 5"));

    assertThat(submit(trigger(LAST, "2"))).isEqualTo(merged(NOW + 3000, "new-2", 6));
    then(
        bucket()
            .record("a", record(500_000, "2"))
            .with("delayed", "a", "1003000")
            .tries("a", "2 0 0 0 0 0 1003000 6"));
  }

  @Test
  void aTriggerNeedNotWaitForTheRetryOfAnOlderOne() {
    given(
        bucket()
            .delayed("a", NOW + 60_000)
            .tries("a", FAILED_ONCE)
            .error("a", "900000 failed retry 1 990000 2\nno"));

    assertThat(submit(trigger(FIRST, "2"))).isEqualTo(merged(NOW + 1000, "new-2", 4));
    then(
        bucket()
            .record("a", record(NOW, "2"))
            .with("delayed", "a", "1001000")
            .tries("a", UNTRIED + "1001000 4")
            .counted("submitted", 1));
  }

  @ParameterizedTest
  @EnumSource(
      value = OnConflict.Rule.class,
      names = {"REFUSE", "REPLACE"},
      mode = EnumSource.Mode.EXCLUDE)
  void aDeadLetterGivesWay(OnConflict.Rule rule) {
    given(
        bucket()
            .dead("a", NOW - 5)
            .tries("a", "0 0 5 5 5 0 5 9")
            .error("a", "900000 failed dead-attempts 5 990000 2\nno"));
    Duration atMost = rule.name().startsWith("DEBOUNCE") ? Duration.ofSeconds(2) : null;

    assertThat(submit(trigger(new OnConflict(rule, atMost), "2")))
        .isEqualTo(
            new Submitted.Item(Kind.REPLACED, NOW + 1000, 0, null, new JobVersion("new-2", 10)));
    then(
        bucket()
            .record("a", record(NOW, "2"))
            .with("delayed", "a", "1001000")
            .tries("a", UNTRIED + "1001000 10")
            .counted("submitted", 1));
  }

  @ParameterizedTest
  @EnumSource(
      value = OnConflict.Rule.class,
      names = {"REFUSE", "REPLACE"},
      mode = EnumSource.Mode.EXCLUDE)
  void aJobThatRanBeforeRunsAgain(OnConflict.Rule rule) {
    given(bucket().tomb("a", NOW + 5, "D", "2", NOW - 9));
    Duration atMost = rule.name().startsWith("DEBOUNCE") ? Duration.ofSeconds(2) : null;

    assertThat(submit(trigger(new OnConflict(rule, atMost), "2")).kind()).isEqualTo(Kind.CREATED);
    then(
        bucket()
            .record("a", record(NOW, "2"))
            .with("delayed", "a", "1001000")
            .counted("submitted", 1));
  }

  @Test
  void aTriggerThatMeetsTheJobRunningWaitsForItsEnd() {
    given(running());

    assertThat(submit(trigger(LAST, "1"))).isEqualTo(merged(NOW + 1000, "i-a", 2));
    then(running().with("next", "a", waiting("+1000", "1")));
    assertThat(submit(trigger(LAST, "2"))).isEqualTo(merged(NOW + 1000, "i-a", 2));
    then(running().with("next", "a", waiting("+1000", "2")));
    submit(trigger(FIRST, "3"));
    then(running().with("next", "a", waiting("+1000", "2")));
    assertThat(store.find(bucket, "a").orElseThrow().successorDue()).isEqualTo(NOW + 1000);
  }

  @Test
  void twoTriggersOfOneCallAreOneSuccessor() {
    given(running());

    assertThat(store.submit(bucket, List.of(trigger(FIRST, "1"), trigger(FIRST, "2"))).items())
        .containsOnly(merged(NOW + 1000, "i-a", 2));
    then(running().with("next", "a", waiting("+1000", "1")));
  }

  @Test
  void theSuccessorOpensAWindowAtTheEnd() {
    given(running().with("next", "a", waiting("+1000", "1")));
    nowIs(NOW + 3000);

    assertThat(settle(Op.DONE)).isEqualTo(new Settled(Settled.Kind.DONE, NOW + 3000, NOW + 4000));
    then(
        bucket()
            .tomb("a", NOW + 3000 + RETENTION, "D", "body of a", NOW + 3000, NOTE)
            .record("a", record(NOW + 3000, "1"))
            .with("delayed", "a", "1004000")
            .counted("done", 1)
            .counted("submitted", 1));
    nowIs(NOW + 3500);
    assertThat(submit(trigger(LAST, "2"))).isEqualTo(merged(NOW + 4500, "new-2", 2));
    assertThat(settle(Op.DONE).kind()).isEqualTo(Settled.Kind.ALREADY_DONE);
  }

  @Test
  void anAckThatSaysWhatTheRecordIsLetsTheSuccessorBegin() {
    given(
        running()
            .tries("a", FAILED_ONCE)
            .with("tags", "old a", "0")
            .with("next", "a", waiting("+1000", "1")));
    Settlement end =
        new Settlement(
            Op.DONE,
            "a",
            "i-a",
            TOKEN,
            Duration.ZERO,
            false,
            bytes(""),
            new JobRecord("i-a", 3, 5, 0, origin(), List.of("old"), bytes("body of a")),
            null);

    assertThat(store.settle(bucket, List.of(end)))
        .containsExactly(new Settled(Settled.Kind.DONE, NOW, NOW + 1000));
    then(
        bucket()
            .tomb("a", NOW + RETENTION, "D", "body of a", NOW)
            .record("a", record(NOW, "1"))
            .with("delayed", "a", "1001000")
            .counted("done", 1)
            .counted("submitted", 1));
  }

  @Test
  void aDebounceNeedNotWaitForTheRetryOfTheJobThatFailed() {
    given(running().with("next", "a", waiting("+1000", "1")));

    assertThat(settle(Op.FAILED)).isEqualTo(new Settled(Settled.Kind.RETRY, NOW + 1000));
    then(
        bucket()
            .record("a", record(NOW, "1"))
            .with("delayed", "a", "1001000")
            .tries("a", UNTRIED + "1001000 4")
            .error("a", "1000000 failed retry 1 990000 0\n")
            .counted("failed", 1)
            .counted("submitted", 1));
  }

  @Test
  void whatDidNotBeginKeepsItsPlaceBeforeItsSuccessor() {
    given(running().with("next", "a", waiting("+1000", "1")));

    assertThat(settle(Op.UNDELIVERABLE)).isEqualTo(new Settled(Settled.Kind.RETRY, NOW + 700));
    then(
        bucket()
            .delayed("a", NOW + 700)
            .tries("a", "1 0 0 0 0 0 980000 3 980000")
            .error("a", "1000000 undeliverable retry 1 990000 0\n")
            .with("next", "a", waiting("+1000", "1"))
            .counted("undeliverable", 1));

    // What comes then is newer than both, and runs with the one that waits.
    assertThat(submit(trigger(LAST, "2"))).isEqualTo(merged(NOW + 700, "new-2", 4));
    then(
        bucket()
            .record("a", record(500_000, "2"))
            .with("delayed", "a", "1000700")
            .tries("a", "1 0 0 0 0 0 1000700 4")
            .error("a", "1000000 undeliverable retry 1 990000 0\n")
            .counted("undeliverable", 1));
  }

  @Test
  void theSuccessorTakesThePlaceOfTheDeadLetter() {
    given(
        running()
            .with("tags", "old a", "0")
            .record("a", 1, "i-a 0 - - old\nbody of a")
            .with("next", "a", waiting("1060000", "1")));

    assertThat(settle(Op.REJECTED)).isEqualTo(new Settled(Settled.Kind.DEAD, 0, NOW + 60_000));
    then(
        bucket()
            .record("a", record(NOW, "1"))
            .with("delayed", "a", "1060000")
            .tries("a", UNTRIED + "1060000 4")
            .error("a", "1000000 rejected dead-rejected 1 990000 0\n")
            .counted("rejected", 1)
            .counted("dead", 1)
            .counted("submitted", 1));
  }

  @Test
  void aLeaseThatRunsOutIsAnEndForADebounceAlone() {
    given(
        running()
            .with("next", "a", waiting("+1000", "1"))
            .record("b")
            .with("reserved", "b", Long.toString(NOW + 5))
            .with("leases", "b", "i-b " + HELD)
            .with("next", "b", waiting("990000", "1")));
    nowIs(NOW + 10);

    assertThat(store.expire(bucket, 9)).isEqualTo(new Expired(NOW + 10, 2, 0, null));
    then(
        bucket()
            .record("a", record(NOW + 10, "1"))
            .with("delayed", "a", "1001010")
            .tries("a", UNTRIED + "1001010 4")
            .error("a", "1000010 lease retry 1 990000 0\n")
            .delayed("b", NOW + 10)
            .tries("b", "0 1 0 0 1 1 980000 3")
            .error("b", "1000010 lease retry 1 990000 0\n")
            .with("next", "b", waiting("990000", "1"))
            .counted("expired", 2)
            .counted("submitted", 1));
  }

  @Test
  void whatWaitsBehindAJobWhoseRecordIsLostGoesWithIt() {
    given(
        bucket()
            .with("delayed", "a", Long.toString(NOW))
            .tries("a", FAILED_ONCE)
            .with("next", "a", waiting("990000", "1")));

    store.claim(bucket, 9, LEASE, JobStore.ClaimMode.PUSH, TOKEN, "me");
    then(
        bucket()
            .with("dead", "a", "1000000")
            .tries("a", FAILED_ONCE)
            .error("a", "1000000 corrupt dead-corrupt 0 0 0\n")
            .with("next", "a", waiting("990000", "1"))
            .counted("dead", 1));
    assertThat(store.purge(bucket, JobState.DEAD, List.of("a"))).isEqualTo(1);
    then(bucket().counted("dead", 1).counted("purged", 1));
  }

  @Test
  void ofSingletonsOneRunsAndTheFirstWaits() {
    given(running());

    assertThat(submit(job(Due.in(70), QUEUE_ONE, "1"))).isEqualTo(merged(NOW + 70, "i-a", 2));
    assertThat(submit(job(Due.in(90), QUEUE_ONE, "2"))).isEqualTo(merged(NOW + 70, "i-a", 2));
    then(running().with("next", "a", waiting("1000070", "1")));

    nowIs(NOW + 4000);
    assertThat(settle(Op.DONE).successor()).isEqualTo(NOW + 4000);
  }

  @Test
  void ofSingletonsOneRunsAndTheLastWaits() {
    given(running());

    submit(job(Due.in(70), REPLACE_QUEUED, "1"));
    assertThat(submit(job(Due.at(NOW + 90), REPLACE_QUEUED, "2")))
        .isEqualTo(merged(NOW + 90, "i-a", 2));
    then(running().with("next", "a", waiting("1000090", "2")));
  }

  @Test
  void ofSingletonsOneRunsAndNoneWaits() {
    given(running());

    assertThat(submit(job(Due.in(70), DROP, "1"))).isEqualTo(merged(980_000, "i-a", 2));
    then(running());
  }

  @Test
  void aJobThatWaitsForARetryCountsAsRunning() {
    BucketState retried = bucket().delayed("a", NOW + 60_000).tries("a", FAILED_ONCE);
    given(retried);

    assertThat(submit(job(Due.in(70), DROP, "1"))).isEqualTo(merged(NOW + 60_000, "i-a", 3));
    assertThat(submit(job(Due.in(70), QUEUE_ONE, "1"))).isEqualTo(merged(NOW + 70, "i-a", 3));
    then(retried.with("next", "a", waiting("1000070", "1")));
    assertThat(settle(Op.DONE)).isEqualTo(new Settled(Settled.Kind.DONE, NOW, NOW + 70));
    then(
        bucket()
            .tomb("a", NOW + RETENTION, "D", "body of a", NOW)
            .record("a", record(NOW, "1"))
            .with("delayed", "a", "1000070")
            .counted("done", 1)
            .counted("submitted", 1));
  }

  /** As one that dies of another cause. */
  @Test
  void whatWaitsBehindAJobThatCouldNotStartInTimeTakesItsPlace() {
    String tag = IndexTags.notAfter(NOW - 5000);
    BucketState late =
        bucket()
            .delayed("a", NOW - 6000)
            .record("a", BucketState.numbers(3, 900_000) + "i-a 0 - - " + tag + "\nbody of a")
            .with("tags", tag + " a", "0")
            .with("next", "a", waiting("1000070", "1"))
            .tries("a", FAILED_ONCE);
    given(late);

    assertThat(store.lapse(bucket, 200)).isEqualTo(new JobStore.Lapsed(NOW, 1, 0, false));
    then(
        bucket()
            .record("a", record(NOW, "1"))
            .with("delayed", "a", "1000070")
            .tries("a", UNTRIED + "1000070 5")
            .error("a", NOW + " expired dead-expired 0 0 0\n")
            .counted("dead", 1)
            .counted("lapsed", 1)
            .counted("submitted", 1));
  }

  @Test
  void aSingletonThatHasNotBegunIsTheOneThatWaits() {
    given(bucket().delayed("a", NOW + 60_000));

    assertThat(submit(job(Due.in(70), QUEUE_ONE, "1"))).isEqualTo(merged(NOW + 60_000, "new-1", 2));
    then(
        bucket()
            .record("a", 3, "new-1\nbody of a")
            .with("delayed", "a", "1060000")
            .tries("a", UNTRIED + "1060000 2"));
    assertThat(submit(job(Due.in(70), REPLACE_QUEUED, "2")))
        .isEqualTo(merged(NOW + 70, "new-2", 3));
    then(
        bucket()
            .record("a", record(500_000, "2"))
            .with("delayed", "a", "1000070")
            .tries("a", UNTRIED + "1000070 3"));
    assertThat(submit(job(Due.in(5), DROP, "3"))).isEqualTo(merged(NOW + 70, "new-2", 3));
  }

  @Test
  void aLateAckOfAnAttemptThatBeganBeforeDoesNotFinishWhatWasAskedForLater() {
    // A pull whose answer was not known to have arrived: given back without an attempt.
    given(bucket().delayed("a", NOW).tries("a", UNTRIED + "980000 3"));
    submit(job(Due.in(0), QUEUE_ONE, "1"));

    assertThat(settle(Op.DONE).kind()).isEqualTo(Settled.Kind.UNKNOWN);
    assertThat(store.find(bucket, "a").orElseThrow().state()).isEqualTo(JobState.DELAYED);
  }

  @Test
  void aCancelTakesWhatWaitsForTheEndAsWell() {
    given(running().with("next", "a", waiting("+1000", "1")));

    assertThat(store.cancel(bucket, "a", new JobVersion("i-a", 1)).kind())
        .isEqualTo(Cancelled.Kind.CHANGED);
    then(running().with("next", "a", waiting("+1000", "1")));
    assertThat(store.cancel(bucket, "a", null).kind()).isEqualTo(Cancelled.Kind.IN_DELIVERY);
    then(running());
  }

  @Test
  void whatComesAfterAnInterruptBeginsAtTheEnd() {
    given(running().with("next", "a", waiting("+1000", "1")));

    assertThat(store.cancel(bucket, "a", null, /* interrupt= */ true).kind())
        .isEqualTo(Cancelled.Kind.CANCELLING);
    BucketState cancelling = running().with("leases", "a", "i-a " + HELD + " cancelling");
    then(cancelling);
    assertThat(submit(job(Due.in(70), QUEUE_ONE, "2")).kind()).isEqualTo(Kind.MERGED);
    then(cancelling.with("next", "a", waiting("1000070", "2")));

    assertThat(settle(Op.FAILED)).isEqualTo(new Settled(Settled.Kind.CANCELLED, 0, NOW + 70));
    then(
        bucket()
            .tomb("a", NOW + RETENTION, "C", "body of a", NOW)
            .record("a", record(NOW, "2"))
            .with("delayed", "a", "1000070")
            .counted("cancelled", 1)
            .counted("submitted", 1));
  }

  @Test
  void aCancelOfAJobThatWaitsForARetryTakesItsSuccessorAsWell() {
    given(
        bucket()
            .delayed("a", NOW + 60_000)
            .tries("a", FAILED_ONCE)
            .with("next", "a", waiting("990000", "1")));

    assertThat(store.cancel(bucket, "a", null).kind()).isEqualTo(Cancelled.Kind.CANCELLED);
    then(
        bucket()
            .tomb("a", NOW + RETENTION, "C", "body of a", NOW)
            .kept("a", NOW + 60_000, "0 0 1 1 1 0 980000 4", "")
            .counted("cancelled", 1));
  }

  @Test
  void aPurgeTakesTheSuccessorAsWell() {
    given(
        bucket()
            .delayed("a", NOW + 60_000)
            .tries("a", FAILED_ONCE)
            .with("next", "a", waiting("990000", "1")));

    assertThat(store.purge(bucket, JobState.DELAYED, List.of("a"))).isEqualTo(1);
    then(bucket().counted("purged", 1));
  }

  @Test
  void aReplacedJobTakesTheSuccessorAsWell() {
    given(
        bucket()
            .delayed("a", NOW + 60_000)
            .tries("a", FAILED_ONCE)
            .with("next", "a", waiting("990000", "1")));

    assertThat(submit(job(Due.in(70), OnConflict.REPLACE, "2")).kind()).isEqualTo(Kind.REPLACED);
    then(
        bucket()
            .record("a", record(NOW, "2"))
            .with("delayed", "a", "1000070")
            .tries("a", UNTRIED + "1000070 4")
            .counted("submitted", 1));
  }

  @Test
  void aSuccessorThatCannotBeReadIsNone() {
    given(running().with("next", "a", "what is this"));

    assertThat(settle(Op.DONE)).isEqualTo(new Settled(Settled.Kind.DONE, NOW));
    then(bucket().tomb("a", NOW + RETENTION, "D", "body of a", NOW, NOTE).counted("done", 1));
  }

  @Test
  void aDebounceNeedsADelay() {
    assertThatIllegalArgumentException().isThrownBy(() -> job(Due.at(NOW), LAST, "1"));
  }
}
