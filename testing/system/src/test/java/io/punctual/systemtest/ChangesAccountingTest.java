package io.punctual.systemtest;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.systemtest.Change.Answer;
import io.punctual.systemtest.Change.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * The judge of changed jobs is judged first: each doctored history must be found out. Times in the
 * record lines are microseconds, due times milliseconds. Job {@code a} is submitted at 0 and due at
 * 100 ms; each call takes 1 ms.
 */
class ChangesAccountingTest {

  private static final int MS = 1000;

  private final List<Change> calls = new ArrayList<>();
  private int version;

  ChangesAccountingTest() {
    call(Kind.SUBMIT, 0, Answer.ACKNOWLEDGED, 100);
  }

  /** A call at that time, ms. */
  private ChangesAccountingTest call(Kind kind, int at, Answer answer, int due) {
    long until = answer == Answer.UNKNOWN ? Long.MAX_VALUE : (at + 1L) * MS;
    int given = kind.givesContent() ? ++version : version;
    calls.add(new Change(kind, (long) at * MS, until, answer, due, given));
    return this;
  }

  private ChangesAccountingTest did(Kind kind, int at, int due) {
    return call(kind, at, Answer.ACKNOWLEDGED, due);
  }

  private ChangesAccountingTest did(Kind kind, int at) {
    return did(kind, at, 0);
  }

  private ChangesAccountingTest perhaps(Kind kind, int at, int due) {
    return call(kind, at, Answer.UNKNOWN, due);
  }

  private Accounting with(List<Fault> faults, String... runs) {
    return Accounting.of(
        History.of(Map.of("a", calls)), Execution.parse(Arrays.asList(runs)), faults);
  }

  private Accounting with(String... runs) {
    return with(List.of(), runs);
  }

  /** A run that is done, of a millisecond, that begins then. */
  private static String[] run(int number, int begin, int version) {
    return new String[] {
      "begin 1-%d a %d  %d".formatted(number, begin * MS, version),
      "end 1-%d a %d DONE".formatted(number, (begin + 1) * MS)
    };
  }

  private static String[] runs(String[]... runs) {
    return Arrays.stream(runs).flatMap(Arrays::stream).toArray(String[]::new);
  }

  private static Fault fault(int from, int until) {
    return new Fault("cut", (long) from * MS, (long) until * MS);
  }

  @Test
  void aJobThatRunsAsItsLastChangeWantsItIsSound() {
    did(Kind.MOVE_LATER, 10, 300).did(Kind.REVISE, 20).did(Kind.REPLACE, 30, 200);

    assertThat(with(run(1, 200, 3)).sound()).isTrue();
  }

  @Test
  void aCancelledJobNeedNotRunAndMayNot() {
    did(Kind.CANCEL, 10);

    assertThat(with().sound()).isTrue();
    assertThat(with(run(1, 150, 1)).cancelled()).containsExactly("a");
  }

  @Test
  void aJobThatIsCancelledByTagMayNotRun() {
    did(Kind.CANCEL_BY_TAG, 10);

    assertThat(with(run(1, 150, 1)).cancelled()).containsExactly("a");
  }

  @Test
  void aRunThatBeganBeforeTheCancelWasAcknowledgedIsNone() {
    did(Kind.CANCEL, 150);

    assertThat(with(run(1, 150, 1)).sound()).isTrue();
  }

  @Test
  void aCancelWithoutAnAnswerAllowsBoth() {
    perhaps(Kind.CANCEL, 10, 0);

    assertThat(with().sound()).isTrue();
    assertThat(with(run(1, 150, 1)).sound()).isTrue();
  }

  @Test
  void aCancelThatWasRefusedChangesNothing() {
    call(Kind.CANCEL, 10, Answer.REFUSED, 0);

    assertThat(with().lost()).containsExactly("a");
    assertThat(with(run(1, 150, 1)).sound()).isTrue();
  }

  @Test
  void aJobThatIsSubmittedAgainAfterACancelMustRun() {
    did(Kind.CANCEL, 10).did(Kind.SUBMIT, 20, 200);

    assertThat(with().lost()).containsExactly("a");
    assertThat(with(run(1, 250, 2)).sound()).isTrue();
    assertThat(with(run(1, 250, 1)).outdated()).containsExactly("a");
    assertThat(with(run(1, 150, 1)).lost()).containsExactly("a");
  }

  @Test
  void aSubmitWithoutAnAnswerMayLandAfterACancel() {
    perhaps(Kind.REPLACE, 10, 100).did(Kind.CANCEL, 20);

    assertThat(with(run(1, 150, 2)).sound()).isTrue();
    assertThat(with(run(1, 150, 1)).outdated()).containsExactly("a");
  }

  @Test
  void theNewestAcknowledgedContentRuns() {
    did(Kind.REVISE, 10).did(Kind.REVISE, 20);

    assertThat(with(run(1, 150, 3)).sound()).isTrue();
    assertThat(with(run(1, 150, 2)).outdated()).containsExactly("a");
    assertThat(with(run(1, 150, 1)).outdated()).containsExactly("a");
  }

  @Test
  void aContentWithoutAnAnswerMayRunOrNot() {
    did(Kind.REVISE, 10).perhaps(Kind.REVISE, 20, 0);

    assertThat(with(run(1, 150, 3)).sound()).isTrue();
    assertThat(with(run(1, 150, 2)).sound()).isTrue();
    assertThat(with(run(1, 150, 1)).outdated()).containsExactly("a");
  }

  @Test
  void aRevisionThatIsAcknowledgedAfterTheRunIsLostUnlessItsEndWasNotHeard() {
    did(Kind.REVISE, 150);

    assertThat(with(run(1, 120, 1)).lost()).containsExactly("a");
    assertThat(with(List.of(fault(120, 130)), run(1, 120, 1)).sound()).isTrue();
  }

  @Test
  void aJobMayNotRunBeforeItsAcknowledgedDueTime() {
    did(Kind.MOVE_LATER, 10, 300);

    assertThat(with(run(1, 299, 1)).early()).containsExactly("a");
    assertThat(with(run(1, 300, 1)).sound()).isTrue();
  }

  @Test
  void theEarlierDueTimeHoldsUntilAMoveIsAcknowledged() {
    did(Kind.MOVE_LATER, 120, 300);

    assertThat(with(run(1, 120, 1)).early()).isEmpty();
  }

  @Test
  void aMoveWithoutAnAnswerAllowsBothDueTimes() {
    perhaps(Kind.MOVE_EARLIER, 10, 50);

    assertThat(with(run(1, 60, 1)).sound()).isTrue();
    assertThat(with(run(1, 49, 1)).early()).containsExactly("a");
  }

  @Test
  void aJobThatIsRunNowMayRunFromTheCallOn() {
    did(Kind.RUN_NOW, 20, 20);

    assertThat(with(run(1, 20, 1)).sound()).isTrue();
    assertThat(with(run(1, 19, 1)).early()).containsExactly("a");
  }

  @Test
  void aSecondRunIsOfAJobThatWasMadeAnewOrNeedsACause() {
    did(Kind.REPLACE, 150, 160);

    assertThat(with(runs(run(1, 120, 1), run(2, 170, 2))).sound()).isTrue();
    assertThat(with(runs(run(1, 170, 2), run(2, 180, 2))).unexplained()).containsExactly("a");
  }

  @Test
  void aRevisionMakesNoJobAnew() {
    did(Kind.REVISE, 150);

    assertThat(with(runs(run(1, 120, 1), run(2, 170, 2))).unexplained()).containsExactly("a");
  }

  @Test
  void onlyAFaultThatHoldsDeliveriesExcusesALateOne() {
    did(Kind.CANCEL, 10);
    Fault cut = fault(100, 140);

    assertThat(with(List.of(cut), run(1, 150, 1)).cancelled()).containsExactly("a");
    assertThat(with(List.of(cut.holdingDeliveries()), run(1, 150, 1)).sound()).isTrue();
    assertThat(with(List.of(fault(160, 170).holdingDeliveries()), run(1, 150, 1)).cancelled())
        .containsExactly("a");
  }
}
