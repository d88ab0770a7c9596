package io.punctual.core.store.redis;

import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.punctual.core.job.Ending;
import io.punctual.core.job.JobRecord;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.job.Origin;
import io.punctual.core.store.ClaimedJob;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Settled;
import io.punctual.core.store.Settled.Kind;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.Settlement.Op;
import io.punctual.core.store.Submission;
import io.punctual.core.store.Submitted;
import io.punctual.core.store.query.JobView;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class SettleIT extends TransitionTestBase {

  private static final Duration DELAY = Duration.ofMillis(700);

  private static Settlement end(Op op, String id) {
    return end(op, id, "i-" + id, "t-1", /* alone= */ false, "");
  }

  private static Settlement end(
      Op op, String id, String incarnation, String token, boolean alone, String note) {
    return new Settlement(op, id, incarnation, new LeaseToken(token), DELAY, alone, bytes(note));
  }

  private List<Settled> settle(Settlement... settlements) {
    return store.settle(bucket, List.of(settlements));
  }

  private void assertAnswer(Settlement settlement, Kind kind, long due) {
    assertThat(settle(settlement)).containsExactly(new Settled(kind, due));
  }

  private BucketState finished(String id) {
    return bucket().tomb(id, NOW + RETENTION, "D", "body of " + id, NOW, NOTE);
  }

  @Test
  void anAckFinishesAJobAndLeavesATombstone() {
    given(
        bucket()
            .reserved("a", NOW + 5, HELD)
            .tries("a", "0 0 1 1 1 0 980000 3")
            .error("a", "900000 failed retry 1 990000 2\nno")
            .delayed("b", NOW));

    assertAnswer(end(Op.DONE, "a"), Kind.DONE, NOW);
    then(finished("a").delayed("b", NOW).counted("done", 1));
    assertThat(timeToLive("done")).isBetween(RETENTION - 60_000, RETENTION);
    assertThat(timeToLive("tombs")).isBetween(RETENTION - 60_000, RETENTION);
    assertThat(timeToLive("jobs")).isEqualTo(-1);
  }

  @Test
  void anAckOfAnEarlierAttemptCountsWhereverTheJobIsNow() {
    given(
        bucket()
            .delayed("waits", NOW)
            .dead("died", NOW)
            .tries("died", "0 0 3 3 3 0 5 3")
            .reserved("runs", NOW + 5, "another 2 0 990000 980000 you"));

    assertThat(settle(end(Op.DONE, "waits"), end(Op.DONE, "died"), end(Op.DONE, "runs")))
        .containsOnly(new Settled(Kind.DONE, NOW));
    then(
        bucket()
            .tomb("waits", NOW + RETENTION, "D", "body of waits", NOW)
            .tomb("died", NOW + RETENTION, "D", "body of died", NOW)
            .tomb("runs", NOW + RETENTION, "D", "body of runs", NOW)
            .counted("done", 3));
  }

  private static Settlement doneBy(String incarnation, String id, String content, String... tags) {
    return doneBy(null, incarnation, id, content, tags);
  }

  private static Settlement doneBy(
      @Nullable Ending ending, String incarnation, String id, String content, String... tags) {
    JobRecord record =
        new JobRecord(incarnation, 3, 5, 0, Origin.UNKNOWN, List.of(tags), bytes(content));
    return new Settlement(
        Op.DONE,
        id,
        incarnation,
        TOKEN,
        Duration.ZERO,
        /* alone= */ false,
        bytes(""),
        record,
        ending);
  }

  @Test
  void aTombstoneSaysHowTheJobEnded() {
    String pulled = "t-1 2 %s 990000 980000 2 " + "w".repeat(70);
    given(
        bucket()
            .reserved("a", NOW + 5, HELD)
            .with("tags", "x a", "0")
            .reserved("b", NOW + 5, HELD)
            .delayed("late", NOW)
            .reserved("pulled", NOW + 5, pulled.formatted("1"))
            .reserved("unreceived", NOW + 5, pulled.formatted("-"))
            .record("pulled", BucketState.numbers(3, 989_000) + "i-pulled\nbody of pulled"));

    Ending ending = new Ending(2, 999_000, 4, "shop 1:8080\u00e4");
    settle(
        doneBy(ending, "i-a", "a", "told", "x"),
        doneBy(new Ending(1, 999_000, 0, null), "i-b", "b", "told"),
        doneBy(ending, "i-late", "late", "not believed"),
        end(Op.DONE, "pulled"),
        end(Op.DONE, "unreceived"));
    String worker = "w".repeat(64);
    then(
        bucket()
            .tomb("a", NOW + RETENTION, "D", "told", NOW, "2,999000,4,shop_1:8080_")
            .tomb("b", NOW + RETENTION, "D", "told", NOW, "1,999000,0,-")
            .tomb("late", NOW + RETENTION, "D", "body of late", NOW, "2,999000,4,shop_1:8080_")
            .tomb("pulled", NOW + RETENTION, "D", "body of pulled", NOW, "2,990000,1000," + worker)
            .tomb(
                "unreceived",
                NOW + RETENTION,
                "D",
                "body of unreceived",
                NOW,
                "2,990000,10000," + worker)
            .counted("done", 5));

    JobView found = store.find(bucket, "a").orElseThrow();
    assertThat(found.ending()).isEqualTo(new Ending(2, 999_000, 4, "shop_1:8080_"));
    assertThat(store.find(bucket, "b").orElseThrow().ending())
        .isEqualTo(new Ending(1, 999_000, 0, null));
    assertAnswer(end(Op.DONE, "a"), Kind.ALREADY_DONE, 0);
    // As a scheduler reads it that knows no notes.
    String tomb = reader.read(bucket).values("tombs").get("a");
    assertThat(tomb).matches("\\S+ [DC] [0-9a-f]{20} 1000000");
  }

  @Test
  void anAttemptThatWasSentBeforeIsLateSinceItWasDue() {
    String lease = "t-1 %d - 990000 980000 3 w";
    given(
        bucket()
            .reserved("first", NOW + 5, lease.formatted(1))
            .tries("first", "1 0 0 0 1 0 900000 2 900000")
            .reserved("second", NOW + 5, lease.formatted(2))
            .tries("second", "0 0 1 1 1 0 900000 2")
            .reserved("again", NOW + 5, lease.formatted(2))
            .tries("again", "1 0 1 1 1 0 900000 2 970000"));

    settle(end(Op.DONE, "first"), end(Op.DONE, "second"), end(Op.DONE, "again"));

    then(
        bucket()
            .tomb("first", NOW + RETENTION, "D", "body of first", NOW, "1,990000,90000,w")
            .tomb("second", NOW + RETENTION, "D", "body of second", NOW, "2,990000,10000,w")
            .tomb("again", NOW + RETENTION, "D", "body of again", NOW, "2,990000,20000,w")
            .counted("done", 3));
  }

  @Test
  void whatWasClaimedWhenTheHoursHadEndedIsLateSinceItWasDue() {
    given(
        bucket()
            .reserved("within", NOW + 5, "t-1 1 - 994999 980000 3 w")
            .reserved("after", NOW + 5, "t-1 1 - 995000 980000 3 w")
            .with("control", "opening", "985000 995000 900000 2000000"));

    settle(end(Op.DONE, "within"), end(Op.DONE, "after"));

    then(
        bucket()
            .with("control", "opening", "985000 995000 900000 2000000")
            .tomb("within", NOW + RETENTION, "D", "body of within", NOW, "1,994999,9999,w")
            .tomb("after", NOW + RETENTION, "D", "body of after", NOW, "1,995000,15000,w")
            .counted("done", 2));
  }

  @Test
  void aPulledJobIsNotLateBeforeTheHoursOfItsQueueBegan() {
    BucketState given =
        bucket()
            .reserved("open", NOW + 5, "t-1 1 - 990000 980000 3 w")
            .reserved("first", NOW + 5, "t-1 1 - 985000 980000 3 w")
            .reserved("before", NOW + 5, "t-1 1 - 984000 980000 3 w")
            .with("control", "opening", "985000 2000000 900000 2000000");
    given(given);

    settle(end(Op.DONE, "open"), end(Op.DONE, "first"), end(Op.DONE, "before"));

    then(
        bucket()
            .with("control", "opening", "985000 2000000 900000 2000000")
            .tomb("open", NOW + RETENTION, "D", "body of open", NOW, "1,990000,5000,w")
            .tomb("first", NOW + RETENTION, "D", "body of first", NOW, "1,985000,0,w")
            .tomb("before", NOW + RETENTION, "D", "body of before", NOW, "1,984000,4000,w")
            .counted("done", 3));
  }

  @Test
  void aPulledJobIsNotLateBeforeHoursThatWereCheckedAgainSinceItsClaim() {
    BucketState given =
        bucket()
            .reserved("job", NOW + 5, "t-1 1 - 990000 980000 3 w")
            .with("control", "opening", "985000 2000000 995000 1055000");
    given(given);

    settle(end(Op.DONE, "job"));

    then(
        bucket()
            .with("control", "opening", "985000 2000000 995000 1055000")
            .tomb("job", NOW + RETENTION, "D", "body of job", NOW, "1,990000,5000,w")
            .counted("done", 1));
  }

  @Test
  void whoHoldsAJobNeedNotHaveItsRecordRead() {
    given(
        bucket()
            .reserved("a", NOW + 5, HELD)
            .with("jobs", "a", "not read")
            .with("tags", "x a", "0")
            .with("tags", "y a", "0")
            .reserved("tried", NOW + 5, HELD)
            .tries("tried", "0 0 1 1 1 0 5 3")
            .error("tried", "900000 failed retry 1 990000 2\nno"));

    assertThat(settle(doneBy("i-a", "a", "told", "x", "y"), doneBy("i-tried", "tried", "")))
        .containsOnly(new Settled(Kind.DONE, NOW));
    then(
        bucket()
            .tomb("a", NOW + RETENTION, "D", "told", NOW)
            .tomb("tried", NOW + RETENTION, "D", "", NOW)
            .counted("done", 2));
  }

  @Test
  void whoDoesNotHoldAJobIsNotBelieved() {
    BucketState given =
        bucket()
            .delayed("waits", NOW)
            .with("leases", "waits", "i-waits " + HELD)
            .reserved("runs", NOW + 5, HELD)
            .record("unread")
            .with("reserved", "unread", "1000005");
    given(given);

    assertThat(settle(doneBy("i-run", "runs", "x"), doneBy("i-runsx", "runs", "x")))
        .containsOnly(new Settled(Kind.UNKNOWN, 0));
    then(given);
    assertThat(settle(doneBy("i-waits", "waits", "x"), doneBy("i-unread", "unread", "x")))
        .containsOnly(new Settled(Kind.DONE, NOW));
    then(
        bucket()
            .reserved("runs", NOW + 5, HELD)
            .tomb("waits", NOW + RETENTION, "D", "body of waits", NOW)
            .tomb("unread", NOW + RETENTION, "D", "body of unread", NOW)
            .counted("done", 2));
  }

  @Test
  void aRepeatedAckSaysSo() {
    given(bucket().reserved("a", NOW + 5, HELD));
    settle(end(Op.DONE, "a"));
    BucketState first = reader.read(bucket);

    assertAnswer(end(Op.DONE, "a"), Kind.ALREADY_DONE, 0);
    then(first);

    nowIs(NOW + RETENTION);
    assertAnswer(end(Op.DONE, "a"), Kind.UNKNOWN, 0);
    then(first);
  }

  @Test
  void anAckOfAnotherIncarnationChangesNothing() {
    BucketState given =
        bucket()
            .reserved("a", NOW + 5, HELD)
            .tomb("ran", NOW + 5, "D", "x", 1)
            .tomb("cancelled", NOW + 5, "C", "x", 1);
    given(given);

    assertAnswer(end(Op.DONE, "a", "i-b", "t-1", false, ""), Kind.UNKNOWN, 0);
    assertAnswer(end(Op.DONE, "ran", "i-b", "t-1", false, ""), Kind.UNKNOWN, 0);
    assertAnswer(end(Op.DONE, "ran"), Kind.ALREADY_DONE, 0);
    assertAnswer(end(Op.DONE, "cancelled"), Kind.UNKNOWN, 0);
    assertAnswer(end(Op.DONE, "never"), Kind.UNKNOWN, 0);
    then(given);
  }

  @Test
  void aFailedAttemptCountsAndTheJobWaits() {
    given(bucket().reserved("a", NOW + 5, HELD));

    assertAnswer(end(Op.FAILED, "a", "i-a", "t-1", false, "no\nroom"), Kind.RETRY, NOW + 700);
    then(
        bucket()
            .delayed("a", NOW + 700)
            .tries("a", "0 0 1 1 1 0 980000 3")
            .error("a", "1000000 failed retry 1 990000 7\nno\nroom")
            .counted("failed", 1));
  }

  @Test
  void anUnknownAttemptMakesASuspectAndCountsOnlyIfItTravelledAlone() {
    given(bucket().reserved("a", NOW + 5, HELD).reserved("b", NOW + 5, HELD));

    assertThat(
            settle(
                end(Op.UNKNOWN, "a", "i-a", "t-1", /* alone= */ false, ""),
                end(Op.UNKNOWN, "b", "i-b", "t-1", /* alone= */ true, "")))
        .containsOnly(new Settled(Kind.RETRY, NOW + 700));
    then(
        bucket()
            .delayed("a", NOW + 700)
            .tries("a", "0 1 0 0 1 1 980000 3")
            .error("a", "1000000 unknown retry 1 990000 0\n")
            .delayed("b", NOW + 700)
            .tries("b", "0 1 0 1 1 1 980000 3")
            .error("b", "1000000 unknown retry 1 990000 0\n")
            .counted("unknown", 2));
  }

  @Test
  void aFailedAttemptClearsTheSuspicionAndKeepsTheFirstDueTime() {
    given(bucket().reserved("a", NOW + 5, HELD).tries("a", "4 1 0 0 1 1 123 3"));

    assertAnswer(end(Op.FAILED, "a"), Kind.RETRY, NOW + 700);
    then(
        bucket()
            .delayed("a", NOW + 700)
            .tries("a", "4 1 1 1 2 0 123 3")
            .error("a", "1000000 failed retry 1 990000 0\n")
            .counted("failed", 1));
  }

  @Test
  void whereNoFirstDueTimeIsKnownItIsThatOfTheAttempt() {
    given(bucket().reserved("a", NOW + 5, HELD).tries("a", "0 0 1 1 1 0 0 1"));

    settle(end(Op.FAILED, "a"));
    assertThat(reader.read(bucket).values("tries")).containsEntry("a", "0 0 2 2 2 0 980000 3");
  }

  @Test
  void aFirstDueTimeOfZeroIsKnown() {
    given(bucket().reserved("a", NOW + 5, HELD).tries("a", "0 0 1 1 1 0 0 2"));

    settle(end(Op.FAILED, "a"));
    assertThat(reader.read(bucket).values("tries")).containsEntry("a", "0 0 2 2 2 0 0 3");
  }

  @Test
  void notReachingAnybodyIsNoAttemptHoweverOften() {
    given(bucket().reserved("a", NOW + 5, HELD).tries("a", "998 0 2 2 8 1 123 3"));

    assertAnswer(end(Op.UNDELIVERABLE, "a", "i-a", "t-1", false, "none"), Kind.RETRY, NOW + 700);
    then(
        bucket()
            .delayed("a", NOW + 700)
            .tries("a", "999 0 2 2 8 1 123 3 980000")
            .error("a", "1000000 undeliverable retry 1 990000 4\nnone")
            .counted("undeliverable", 1));
  }

  @Test
  void aReturnedJobIsAsBeforeItWasClaimed() {
    BucketState rest =
        bucket()
            .tries("a", "0 0 1 1 1 0 5 3 970000")
            .error("a", "900000 failed retry 1 990000 2\nno");
    given(rest.reserved("a", NOW + 5, HELD));

    assertAnswer(end(Op.RETURNED, "a"), Kind.RETRY, 980_000);
    then(rest.delayed("a", 980_000).counted("released", 1));
  }

  @Test
  void aReleasedJobWaitsForTheDelayAndCountsNoAttempt() {
    given(bucket().reserved("a", NOW + 5, HELD));

    assertAnswer(end(Op.RELEASED, "a"), Kind.RETRY, NOW + 700);
    then(
        bucket()
            .delayed("a", NOW + 700)
            .tries("a", "0 0 0 0 0 0 980000 3 980000")
            .counted("released", 1));
  }

  @Test
  void aReleasedJobKeepsItsFailuresAndWhenItWasDueAtFirst() {
    BucketState rest = bucket().error("a", "900000 failed retry 1 990000 2\nno");
    given(rest.reserved("a", NOW + 5, HELD).tries("a", "1 0 1 1 1 0 5 3 970000"));

    assertAnswer(end(Op.RELEASED, "a"), Kind.RETRY, NOW + 700);
    then(rest.delayed("a", NOW + 700).tries("a", "1 0 1 1 1 0 5 3 970000").counted("released", 1));
  }

  @Test
  void aJobReleasedWithoutDelayComesAfterThoseThatAreDue() {
    given(
        bucket()
            .reserved("given-back", NOW + 5, "t-1 1 1 990000 100 2 me")
            .delayed("due", NOW - 1)
            .delayed("later", NOW + 1));

    settle(
        new Settlement(
            Op.RELEASED,
            "given-back",
            "i-given-back",
            TOKEN,
            Duration.ZERO,
            /* alone= */ false,
            new byte[0]));
    nowIs(NOW + 5);
    assertThat(store.claim(bucket, 9, LEASE, JobStore.ClaimMode.PUSH, TOKEN, "me").jobs())
        .extracting(ClaimedJob::taskId)
        .containsExactly("due", "given-back", "later");
  }

  @Test
  void aRejectedJobIsDeadAtOnce() {
    given(bucket().reserved("a", NOW + 5, HELD).tries("a", "0 1 0 0 1 1 5 3"));

    assertAnswer(end(Op.REJECTED, "a", "i-a", "t-1", false, "never"), Kind.DEAD, 0);
    then(
        bucket()
            .dead("a", NOW)
            .tries("a", "0 1 1 1 2 0 5 3")
            .error("a", "1000000 rejected dead-rejected 1 990000 5\nnever")
            .counted("rejected", 1)
            .counted("dead", 1));
  }

  @ParameterizedTest
  @CsvSource({
    // op, alone, tries before, tries after, disposition; three attempts are allowed
    "FAILED,    false, 0 0 1 1 1 0 5 2, 0 0 2 2 2 0 5 3, retry",
    "FAILED,    false, 0 0 2 2 2 0 5 2, 0 0 3 3 3 0 5 3, dead-attempts",
    "UNKNOWN, true,  0 2 0 2 2 1 5 2, 0 3 0 3 3 1 5 3, dead-attempts",
    "UNKNOWN, false, 0 2 0 2 2 1 5 2, 0 3 0 2 3 1 5 3, retry",
    "UNKNOWN, false, 0 7 0 0 7 1 5 2, 0 8 0 0 8 1 5 3, retry",
    "UNKNOWN, false, 0 8 0 0 8 1 5 2, 0 9 0 0 9 1 5 3, dead-deliveries",
    "FAILED,    false, 0 6 2 2 8 1 5 2, 0 6 3 3 9 0 5 3, dead-attempts",
    "FAILED,    false, 9 0 0 0 0 0 5 2, 9 0 1 1 1 0 5 3, retry",
  })
  void attemptsAndDeliveriesAreBounded(
      Op op, boolean alone, String before, String after, String disposition) {
    given(bucket().reserved("a", NOW + 5, HELD).tries("a", before));

    List<Settled> settled = settle(end(op, "a", "i-a", "t-1", alone, ""));

    String kind = op == Op.FAILED ? "failed" : "unknown";
    BucketState rest =
        bucket()
            .tries("a", after)
            .error("a", "1000000 " + kind + " " + disposition + " 1 990000 0\n")
            .counted(op == Op.FAILED ? "failed" : "unknown", 1);
    if (disposition.equals("retry")) {
      assertThat(settled).containsExactly(new Settled(Kind.RETRY, NOW + 700));
      then(rest.delayed("a", NOW + 700));
    } else {
      assertThat(settled).containsExactly(new Settled(Kind.DEAD, 0));
      then(rest.dead("a", NOW).counted("dead", 1));
    }
  }

  @ParameterizedTest
  @EnumSource(value = Op.class, names = "DONE", mode = EnumSource.Mode.EXCLUDE)
  void whoLostTheLeaseChangesNothing(Op op) {
    BucketState given =
        bucket()
            .reserved("a", NOW + 5, HELD)
            .delayed("waits", NOW)
            .dead("died", NOW)
            .record("noLease")
            .with("reserved", "noLease", "1000005")
            .delayed("staleLease", NOW)
            .with("leases", "staleLease", "i-staleLease " + HELD)
            .with("reserved", "noRecord", "1000005")
            .with("leases", "noRecord", "i-noRecord " + HELD)
            .reserved("mangled", NOW + 5, "t-1");
    given(given);

    assertAnswer(end(op, "a", "i-a", "t-2", false, "x"), Kind.LEASE_LOST, 0);
    assertAnswer(end(op, "a", "i-b", "t-1", false, "x"), Kind.LEASE_LOST, 0);
    for (String id :
        List.of("waits", "died", "never", "noLease", "staleLease", "noRecord", "mangled")) {
      assertAnswer(end(op, id), Kind.LEASE_LOST, 0);
    }
    then(given);
  }

  @ParameterizedTest
  @EnumSource(value = Op.class, names = "DONE", mode = EnumSource.Mode.EXCLUDE)
  void repeatingAnEndingChangesNothing(Op op) {
    given(bucket().reserved("a", NOW + 5, HELD));
    settle(end(op, "a"));
    BucketState first = reader.read(bucket);

    assertAnswer(end(op, "a"), Kind.LEASE_LOST, 0);
    then(first);
  }

  @Test
  void endingsOfOneCallAreTakenOneAfterTheOther() {
    given(bucket().reserved("a", NOW + 5, HELD).reserved("b", NOW + 5, HELD));

    assertThat(
            settle(
                end(Op.FAILED, "a"),
                end(Op.FAILED, "a"),
                end(Op.DONE, "b"),
                end(Op.DONE, "a"),
                end(Op.DONE, "a"),
                end(Op.FAILED, "b")))
        .extracting(Settled::kind)
        .containsExactly(
            Kind.RETRY, Kind.LEASE_LOST, Kind.DONE, Kind.DONE, Kind.ALREADY_DONE, Kind.LEASE_LOST);
    then(
        bucket()
            .tomb("a", NOW + RETENTION, "D", "body of a", NOW)
            .tomb("b", NOW + RETENTION, "D", "body of b", NOW, NOTE)
            .counted("failed", 1)
            .counted("done", 2));
  }

  @Test
  void anAckTrimsTombstonesThatExpired() {
    BucketState given = bucket().reserved("a", NOW + 5, HELD).tomb("young", NOW + 1, "D", "x", 1);
    for (int i = 0; i < 40; i++) {
      given = given.tomb("old" + i, 100 + i, "D", "x", 1);
    }
    given(given);

    settle(end(Op.DONE, "a"));

    // 32 and 2 for the one job in the call.
    BucketState expected = finished("a").tomb("young", NOW + 1, "D", "x", 1).counted("done", 1);
    for (int i = 34; i < 40; i++) {
      expected = expected.tomb("old" + i, 100 + i, "D", "x", 1);
    }
    then(expected);
  }

  @Test
  void anEngineThatKeepsTombstonesBrieflyLeavesThoseOfOthers() {
    long week = Duration.ofDays(7).toMillis();
    given(bucket().tomb("old", NOW + week, "D", "x", 1).reserved("a", NOW + 5, HELD));

    assertAnswer(end(Op.DONE, "a"), Kind.DONE, NOW);

    assertThat(timeToLive("done")).isBetween(week - 60_000, week);
    assertThat(timeToLive("tombs")).isBetween(week - 60_000, week);
  }

  @Test
  void aCallThatFinishesNothingLeavesTombstonesAlone() {
    BucketState tomb = bucket().tomb("old", 100, "D", "x", 1);
    given(tomb.reserved("a", NOW + 5, HELD));

    settle(end(Op.RETURNED, "a"), end(Op.DONE, "never"));

    then(tomb.delayed("a", 980_000).tries("a", "0 0 0 0 0 0 980000 3").counted("released", 1));
    assertThat(timeToLive("done")).isEqualTo(-1);
  }

  @Test
  void aTombstoneCarriesTheHashOfTheContentSoThatTheSameJobIsKnown() {
    given(bucket().reserved("a", NOW + 5, HELD));
    settle(end(Op.DONE, "a"));

    Submission again =
        new Submission(
            "a",
            "new",
            io.punctual.core.job.Due.in(0),
            3,
            0,
            List.of(),
            bytes("body of a"),
            /* replace= */ false);
    assertThat(store.submit(bucket, List.of(again)).items().get(0).kind())
        .isEqualTo(Submitted.Kind.ALREADY_DONE);
  }

  @Test
  void twoHundredEndingsAreTakenAndMoreRefused() {
    BucketState given = bucket();
    Settlement[] endings = new Settlement[201];
    Arrays.setAll(endings, i -> end(i % 2 == 0 ? Op.DONE : Op.FAILED, "j" + i));
    for (int i = 0; i < 200; i++) {
      given = given.reserved("j" + i, NOW + 5, HELD);
    }
    given(given);

    assertThat(store.settle(bucket, List.of(endings).subList(0, 200)))
        .extracting(Settled::kind)
        .containsOnly(Kind.DONE, Kind.RETRY);
    assertThat(reader.read(bucket).values("tombs")).hasSize(100);
    assertThat(reader.read(bucket).values("delayed")).hasSize(100);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store.settle(bucket, List.of(endings)))
        .withMessage("at most 200 jobs a call, not 201");
    assertThat(settle()).isEmpty();
  }

  @Test
  void whatTheScriptReliesOnIsChecked() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                new Settlement(
                    Op.FAILED, "a", "i", TOKEN, Duration.ofMillis(-1), false, new byte[0]));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Settlement(Op.FAILED, "a", "i", TOKEN, DELAY, false, new byte[2049]));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "DONE")
  void aJobThatWasToBeCancelledIsGoneHoweverItsAttemptEnds(Op op) {
    BucketState given =
        bucket()
            .reserved("a", NOW + 5, HELD + "\u007fada cancelling")
            .tries("a", "0 0 2 2 2 0 5 1")
            .error("a", "900000 failed retry 1 990000 2\nno")
            .tomb("old", NOW, "D", "x", 1)
            .delayed("b", NOW);
    given(given);

    Settlement late =
        new Settlement(
            op, "a", "i-a", new LeaseToken("late"), Duration.ZERO, /* alone= */ true, bytes(""));
    assertThat(settle(late)).containsExactly(new Settled(Kind.LEASE_LOST, 0));
    then(given);

    assertAnswer(end(op, "a"), Kind.CANCELLED, 0);
    then(
        bucket()
            .tomb("a", NOW + RETENTION, "C", "body of a", NOW, "ada")
            .kept("a", 980_000, "0 0 2 2 2 0 980000 3", "900000 failed retry 1 990000 2\nno")
            .delayed("b", NOW)
            .counted("cancelled", 1));
    assertThat(timeToLive("tombs")).isBetween(RETENTION - 60_000, RETENTION);
    assertAnswer(end(op, "a"), Kind.LEASE_LOST, 0);
  }

  @Test
  void aJobThatWasToBeCancelledAndWasDoneAllTheSameIsDone() {
    given(
        bucket()
            .reserved("a", NOW + 5, HELD + " cancelling")
            .reserved("b", NOW + 5, HELD + " cancelling"));

    assertThat(settle(end(Op.DONE, "a"), doneBy("i-b", "b", "told")))
        .containsOnly(new Settled(Kind.DONE, NOW));
    then(
        bucket()
            .tomb("a", NOW + RETENTION, "D", "body of a", NOW, NOTE)
            .tomb("b", NOW + RETENTION, "D", "told", NOW)
            .counted("done", 2));
  }
}
