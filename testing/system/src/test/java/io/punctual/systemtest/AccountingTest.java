package io.punctual.systemtest;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/**
 * The judge is judged first: each doctored history must be found out. Times in the record lines are
 * microseconds, due times milliseconds; {@code a} is due at 100 ms, {@code b} at 200 ms.
 */
class AccountingTest {

  private static final long SECOND = 1_000_000;
  private static final History BOTH =
      new History(Map.of("a", 100L, "b", 200L), Set.of("a", "b"), Set.of(), Map.of());
  // Each may run for two seconds.
  private static final History LIMITED =
      new History(
          BOTH.attempted(),
          BOTH.acknowledged(),
          Set.of(),
          Map.of("a", Duration.ofSeconds(2), "b", Duration.ofSeconds(2)));

  private static final String[] HONEST = {
    "begin 1 a 100000", "end 1 a 100500 DONE", "begin 2 b 250000", "end 2 b 260000 DONE"
  };

  @Test
  void anHonestRunIsSound() {
    Accounting accounting = of(BOTH, List.of(), HONEST);

    assertThat(accounting.sound()).isTrue();
    assertThat(accounting.repeated()).isEmpty();
    assertThat(accounting)
        .hasToString(
            "2 accepted, 0 unknown (0 of them ran), lost 0, unexpected 0, early 0, cancelled 0, outdated 0, overlapping 0, repeated 0, of these unexplained 0");
  }

  @Test
  void aJobThatNeverRanIsLost() {
    Accounting accounting = of(BOTH, List.of(), "begin 1 a 100000", "end 1 a 100500 DONE");

    assertThat(accounting.lost()).containsExactly("b");
    assertThat(accounting.sound()).isFalse();
  }

  @Test
  void aJobThatBeganAndNeverEndedIsLost() {
    assertThat(of(BOTH, List.of(), "begin 1 a 100000", "begin 2 b 250000").lost())
        .containsExactly("a", "b");
  }

  @Test
  void aJobThatOnlyFailedIsLostUnlessTheSchedulerSaysItIsDead() {
    String[] failed = {
      "begin 1 a 100000", "end 1 a 100500 FAILED", "begin 2 b 250000", "end 2 b 260000 DONE"
    };

    assertThat(of(BOTH, List.of(), failed).lost()).containsExactly("a");
    History dead = new History(BOTH.attempted(), BOTH.acknowledged(), Set.of("a"), Map.of());
    assertThat(of(dead, List.of(), failed).sound()).isTrue();
  }

  @Test
  void aJobWhoseSubmitHadNoClearAnswerMayRunOrNot() {
    History unclear = new History(BOTH.attempted(), Set.of("a"), Set.of(), Map.of());

    Accounting ran = of(unclear, List.of(), HONEST);
    assertThat(ran.sound()).isTrue();
    assertThat(ran.unknown()).isOne();
    assertThat(ran.recovered()).containsExactly("b");

    Accounting didNot = of(unclear, List.of(), "begin 1 a 100000", "end 1 a 100500 DONE");
    assertThat(didNot.sound()).isTrue();
    assertThat(didNot.recovered()).isEmpty();
  }

  @Test
  void aJobFromNowhereIsUnexpected() {
    Accounting accounting =
        of(
            new History(Map.of(), Set.of(), Set.of(), Map.of()),
            List.of(),
            "begin 1 x 1",
            "end 1 x 2 DONE");

    assertThat(accounting.unexpected()).containsExactly("x");
    assertThat(accounting.sound()).isFalse();
  }

  @Test
  void aMicrosecondTooSoonIsEarly() {
    Accounting accounting =
        of(BOTH, List.of(), "begin 1 a 99999", "end 1 a 100500 DONE", HONEST[2], HONEST[3]);

    assertThat(accounting.early()).containsExactly("a");
    assertThat(accounting.sound()).isFalse();
  }

  @Test
  void aSecondRunThatNothingExplainsIsWrong() {
    Accounting accounting = twice(100_500, 300_000);

    assertThat(accounting.repeated()).containsExactly("a");
    assertThat(accounting.unexplained()).containsExactly("a");
    assertThat(accounting.sound()).isFalse();
  }

  @Test
  void aFaultExplainsOneMoreRunOfWhatWasUnderWay() {
    Fault fault = new Fault("kill", 100_200, 100_200);

    assertThat(twice(100_500, 300_000, fault).sound()).isTrue();
    assertThat(twice(100_500, 300_000, fault).repeated()).containsExactly("a");
  }

  @Test
  void aFaultDoesNotExplainARunThatHadEndedLongBefore() {
    assertThat(twice(100_500, 9 * SECOND, new Fault("kill", 5 * SECOND, 6 * SECOND)).unexplained())
        .containsExactly("a");
  }

  @Test
  void aFaultDoesNotExplainARunThatBeganLongAfterIt() {
    Accounting accounting =
        of(
            BOTH,
            List.of(new Fault("kill", 200_000, 200_000)),
            "begin 1 a 5000000",
            "end 1 a 5000500 DONE",
            "begin 3 a 6000000",
            "end 3 a 6000500 DONE",
            HONEST[2],
            HONEST[3]);

    assertThat(accounting.unexplained()).containsExactly("a");
  }

  @Test
  void oneFaultExplainsOneMoreRunOnly() {
    Accounting accounting =
        of(
            BOTH,
            List.of(new Fault("kill", 100_200, 100_200)),
            "begin 1 a 100000",
            "end 1 a 100500 DONE",
            "begin 3 a 200000",
            "end 3 a 200500 DONE",
            "begin 4 a 300000",
            "end 4 a 300500 DONE",
            HONEST[2],
            HONEST[3]);

    assertThat(accounting.unexplained()).containsExactly("a");
  }

  @Test
  void aFaultOfWhatDidNotHaveTheRunInItsHandsExplainsNothing() {
    assertThat(twice(100_500, 300_000, fault(100_200, Fault.Effect.REPEATS, 99)).unexplained())
        .containsExactly("a");
    assertThat(twice(100_500, 300_000, fault(100_200, Fault.Effect.REPEATS, 1)).sound()).isTrue();
  }

  @Test
  void aFaultThatCausesNoRepeatsExplainsNone() {
    assertThat(twice(100_500, 300_000, fault(100_200, Fault.Effect.NONE, 1)).unexplained())
        .containsExactly("a");
    assertThat(twice(100_500, 300_000, fault(100_200, Fault.Effect.DELAYS, 1)).unexplained())
        .containsExactly("a");
  }

  @Test
  void aFaultAfterTheNextRunBeganIsNotItsCause() {
    assertThat(twice(100_500, 300_000, fault(300_001, Fault.Effect.REPEATS, 1)).unexplained())
        .containsExactly("a");
  }

  @Test
  void onlyAFaultThatForgetsTheClaimLetsRunsOverlap() {
    assertThat(twice(300_000, 250_000, fault(100_200, Fault.Effect.REPEATS, 1)).overlapping())
        .containsExactly("a");
    assertThat(twice(300_000, 250_000, fault(100_200, Fault.Effect.FORGETS, 99)).overlapping())
        .containsExactly("a");
    assertThat(twice(300_000, 250_000, fault(100_200, Fault.Effect.FORGETS, 1)).sound()).isTrue();
  }

  @Test
  void whatDelaysAnAnswerLeavesItToTheNextFault() {
    Predicate<Execution> any = run -> true;
    Fault delay = new Fault("freeze", 100_200, 5 * SECOND, Fault.Effect.DELAYS, any);
    Fault none = new Fault("registry", 100_200, 5 * SECOND, Fault.Effect.NONE, any);
    Fault cut = fault(5 * SECOND + 500_000, Fault.Effect.REPEATS, 1);

    assertThat(twice(100_500, 6 * SECOND, delay, cut).sound()).isTrue();
    assertThat(twice(100_500, 6 * SECOND, delay, cut).causes()).containsEntry("kill", 1);
    assertThat(twice(100_500, 6 * SECOND, none, cut).unexplained()).containsExactly("a");
    assertThat(twice(100_500, 6 * SECOND, cut).unexplained()).containsExactly("a");
  }

  @Test
  void aRunIsUnderWayAtTheFaultsThatHadItInTheirHands() {
    List<Execution> executions = Execution.parse(Arrays.asList(HONEST));
    List<Fault> faults =
        List.of(
            fault(100_200, Fault.Effect.REPEATS, 1),
            fault(250_000, Fault.Effect.REPEATS, 2),
            fault(250_000, Fault.Effect.DELAYS, 2),
            fault(9 * SECOND, Fault.Effect.REPEATS, 1));

    assertThat(Accounting.underWay(BOTH, executions, faults)).containsExactly(Map.entry("kill", 2));
  }

  @Test
  void aRunKnowsWhoSentIt() {
    List<Execution> executions =
        Execution.parse(List.of("begin 1 a 100000 h:1,h:2", "begin 2 b 100000 ", "begin 3 c 1"));

    assertThat(executions)
        .extracting(Execution::senders)
        .containsExactly(Set.of("h:1", "h:2"), Set.of(), Set.of());
  }

  @Test
  void aFailureExplainsTheNextRun() {
    Accounting accounting =
        of(
            BOTH,
            List.of(),
            "begin 1 a 100000",
            "end 1 a 100500 FAILED",
            "begin 3 a 300000",
            "end 3 a 300500 DONE",
            HONEST[2],
            HONEST[3]);

    assertThat(accounting.sound()).isTrue();
  }

  @Test
  void aRunThatBeginsBeforeTheOneBeforeEndedOverlaps() {
    Fault fault = new Fault("kill", 100_200, 100_200);

    Accounting accounting = twice(400_000, 300_000, fault);

    assertThat(accounting.overlapping()).containsExactly("a");
    assertThat(accounting.sound()).isFalse();
  }

  @Test
  void aRunThatOverranItsTimeExplainsTheNextAlsoAtTheSameTime() {
    Accounting accounting = twice(LIMITED, 3 * SECOND, 2_150_000);

    assertThat(accounting.sound()).isTrue();
    assertThat(accounting.causes())
        .containsExactly(Map.entry("the job's time was over before its end", 1));
    assertThat(accounting.furtherUnasked()).isOne();
  }

  /** A machine may stand still between the two. */
  @Test
  void aRunsTimeCountsFromItsClaim() {
    String end = "end 1 a %d DONE".formatted(3 * SECOND);
    String[] next = {"begin 3 a 4000000", "end 3 a 4000500 DONE", HONEST[2], HONEST[3]};
    Accounting late =
        of(
            LIMITED,
            List.of(),
            "begin 1 a 2900000 h:1 0 100000",
            end,
            next[0],
            next[1],
            next[2],
            next[3]);
    assertThat(late.sound()).isTrue();
    assertThat(late.causes())
        .containsExactly(Map.entry("the job's time was over before its end", 1));

    Accounting inTime =
        of(
            LIMITED,
            List.of(),
            "begin 1 a 2900000 h:1 0 2800000",
            end,
            next[0],
            next[1],
            next[2],
            next[3]);
    assertThat(inTime.unexplained()).containsExactly("a");
  }

  @Test
  void aRunWithinItsTimeExplainsNothing() {
    assertThat(twice(LIMITED, 2_050_000, 2_150_000).unexplained()).containsExactly("a");
    assertThat(twice(LIMITED, 2_050_000, 2_040_000).overlapping()).containsExactly("a");
    assertThat(twice(BOTH, 3 * SECOND, 2_150_000).unexplained()).containsExactly("a");
    assertThat(twice(BOTH, 3 * SECOND, 2_150_000).overlapping()).containsExactly("a");
  }

  @Test
  void aRunThatBeginsBeforeTheTimeOfTheOneBeforeIsOverIsUnexplained() {
    History history =
        new History(
            BOTH.attempted(),
            BOTH.acknowledged(),
            Set.of(),
            Map.of("a", Duration.ofSeconds(4), "b", Duration.ofSeconds(4)));

    assertThat(twice(history, 5 * SECOND, 2_050_000).unexplained()).containsExactly("a");
    // It may have been sent two seconds before it began.
    assertThat(twice(history, 5 * SECOND, 2_150_000).unexplained()).isEmpty();
  }

  @Test
  void theRunsOfWhatIsWrongAreTheEvidence() {
    String[] record = {"begin 1 a 100000", "end 1 a 100500 DONE", "begin 3 a 300000", HONEST[2]};
    Accounting accounting = of(BOTH, List.of(), record);

    assertThat(accounting.evidence(Execution.parse(Arrays.asList(record))).lines())
        .satisfiesExactly(
            first -> assertThat(first).contains("run=1", "100500"),
            second -> assertThat(second).contains("run=3"),
            third -> assertThat(third).contains("run=2"));
  }

  @Test
  void aRunOverlapsWhateverIsStillGoingOn() {
    Fault fault = new Fault("kill", 100_200, 5 * SECOND);
    String[] record = {
      "begin 1 a 100000",
      "end 1 a 3000000 DONE",
      "begin 3 a 2150000",
      "end 3 a 2150500 DONE",
      "begin 4 a 2500000",
      "end 4 a 2500500 DONE",
      HONEST[2],
      HONEST[3]
    };

    assertThat(of(LIMITED, List.of(fault), record).sound()).isTrue();
    assertThat(of(BOTH, List.of(fault, fault), record).overlapping()).containsExactly("a");
  }

  @Test
  void aWorkerThatDiedWhenTheTimeWasOverExplainsTheNext() {
    String[] record = {
      "begin 1 a 100000", "begin 3 a 2150000", "end 3 a 2150500 DONE", HONEST[2], HONEST[3]
    };

    assertThat(of(LIMITED, List.of(), record).sound()).isTrue();
    assertThat(of(BOTH, List.of(), record).unexplained()).containsExactly("a");
    String[] later = {
      "begin 1 a 3000000", "begin 3 a 5150000", "end 3 a 5150500 DONE", HONEST[2], HONEST[3]
    };
    assertThat(of(BOTH, List.of(), later).unexplained()).containsExactly("a");
  }

  @Test
  void whatStandsStillForLongerThanAJobMayRunExplainsOneMoreRun() {
    assertThat(twice(LIMITED, 100_500, 2_150_000, freeze(3 * SECOND, 1)).sound()).isTrue();
    assertThat(twice(LIMITED, 100_500, 2_150_000, freeze(SECOND, 1)).unexplained())
        .containsExactly("a");
    assertThat(twice(BOTH, 100_500, 2_150_000, freeze(3 * SECOND, 1)).unexplained())
        .containsExactly("a");
  }

  @Test
  void whatStandsStillMayBeginARunAfterTheOneThatTookItsPlace() {
    assertThat(twice(LIMITED, 100_500, 3 * SECOND, freeze(3 * SECOND, 3)).sound()).isTrue();
    assertThat(twice(LIMITED, 100_500, 9 * SECOND, freeze(3 * SECOND, 3)).unexplained())
        .containsExactly("a");
    assertThat(twice(BOTH, 100_500, 3 * SECOND, freeze(3 * SECOND, 3)).unexplained())
        .containsExactly("a");
  }

  /** Whoever had one run stands still from 50 ms on. */
  private static Fault freeze(long until, int run) {
    return new Fault(
        "freeze", 50_000, until, Fault.Effect.HOLDS, e -> e.run().equals(Integer.toString(run)));
  }

  /** A fault of a moment, of whoever had one run. */
  private static Fault fault(long at, Fault.Effect effect, int run) {
    return new Fault("kill", at, at, effect, e -> e.run().equals(Integer.toString(run)));
  }

  /** Job a runs from 100 ms to the first time, and again from the second one. */
  private static Accounting twice(long firstEnd, long secondBegin, Fault... faults) {
    return twice(BOTH, firstEnd, secondBegin, faults);
  }

  private static Accounting twice(
      History history, long firstEnd, long secondBegin, Fault... faults) {
    return of(
        history,
        List.of(faults),
        "begin 1 a 100000",
        "end 1 a " + firstEnd + " DONE",
        "begin 3 a " + secondBegin,
        "end 3 a " + (secondBegin + 500) + " DONE",
        HONEST[2],
        HONEST[3]);
  }

  private static Accounting of(History history, List<Fault> faults, String... record) {
    return Accounting.of(history, Execution.parse(Arrays.asList(record)), faults);
  }
}
