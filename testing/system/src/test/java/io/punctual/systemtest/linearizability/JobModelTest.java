package io.punctual.systemtest.linearizability;

import static io.punctual.systemtest.linearizability.Story.BROKEN;
import static io.punctual.systemtest.linearizability.Story.cancel;
import static io.punctual.systemtest.linearizability.Story.find;
import static io.punctual.systemtest.linearizability.Story.replace;
import static io.punctual.systemtest.linearizability.Story.reschedule;
import static io.punctual.systemtest.linearizability.Story.revise;
import static io.punctual.systemtest.linearizability.Story.submit;
import static io.punctual.systemtest.linearizability.Story.waiting;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.systemtest.linearizability.Action.Ending;
import io.punctual.systemtest.linearizability.Answer.Outcome;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** The judge is judged first: it accepts honest histories, and finds each doctored one out. */
class JobModelTest {

  private static Story story() {
    return new Story().at(10);
  }

  /** A job that waits. */
  private static Story known() {
    return story().call(submit("one", 1000), Outcome.CREATED);
  }

  /** A job that is done. */
  private static Story done() {
    return known()
        .at(1000)
        .delivered("t1", "one", 1)
        .ended("t1", "one", Ending.DONE, Outcome.ENDED);
  }

  @Nested
  class WithoutAFault {

    @Test
    void aJobRunsOnceWhenItIsDue() {
      assertThat(done().call(find(), Outcome.FINISHED).holds()).isTrue();
    }

    @Test
    void notEarly() {
      assertThat(known().at(990).delivered("t1", "one", 1).holds()).isFalse();
    }

    @Test
    void notTwice() {
      assertThat(done().at(3000).delivered("t2", "one", 1).holds()).isFalse();
      assertThat(done().at(3000).delivered("t2", "one", 2).holds()).isFalse();
    }

    @Test
    void notFromNowhere() {
      assertThat(story().at(3000).delivered("t1", "one", 1).holds()).isFalse();
    }

    @Test
    void notWhileAnotherHasIt() {
      Story first = known().at(1000).delivered("t1", "one", 1);
      assertThat(first.at(1900).delivered("t2", "one", 2).holds()).isFalse();
      assertThat(
              known().at(1000).delivered("t1", "one", 1).at(2001).delivered("t2", "one", 2).holds())
          .isTrue();
    }

    @Test
    void itIsNotLost() {
      assertThat(known().call(find(), Outcome.NOT_FOUND).holds()).isFalse();
      assertThat(known().call(find(), Outcome.FINISHED).holds()).isFalse();
    }

    @Test
    void aCancelledOneDoesNotRun() {
      assertThat(
              known().call(cancel(), Outcome.CANCELLED).at(1000).delivered("t1", "one", 1).holds())
          .isFalse();
    }

    @Test
    void aCancelThatComesTooLateSaysSo() {
      assertThat(
              known()
                  .at(1005)
                  .call(cancel(), Outcome.IN_DELIVERY)
                  .delivered("t1", "one", 1)
                  .holds())
          .isTrue();
    }

    @Test
    void aReplacedOneDoesNotRun() {
      assertThat(
              known()
                  .call(replace("two", 1000), Outcome.REPLACED)
                  .at(1000)
                  .delivered("t1", "one", 1)
                  .holds())
          .isFalse();
    }

    @Test
    void anOlderRevisionDoesNotRun() {
      Story revised =
          known().call(revise("two"), Outcome.REVISED).call(revise("three"), Outcome.REVISED);
      assertThat(revised.at(1000).delivered("t1", "two", 1).holds()).isFalse();
    }

    @Test
    void aJobThatWasMovedLaterRunsLater() {
      Story moved = known().call(reschedule(5000), Outcome.RESCHEDULED);
      assertThat(moved.at(1000).delivered("t1", "one", 1).holds()).isFalse();
    }

    @Test
    void aMoveIsSeenByTheNextLook() {
      Story moved = known().call(reschedule(500), Outcome.RESCHEDULED);
      assertThat(moved.call(find(), waiting("one", 1000)).holds()).isFalse();
    }

    @Test
    void whatIsAnsweredAsDoneHasRun() {
      assertThat(done().call(submit("one", 1000), Outcome.DONE_BEFORE).holds()).isTrue();
      assertThat(done().call(replace("two", 9000), Outcome.CREATED).holds()).isTrue();
      assertThat(done().call(replace("two", 9000), Outcome.DONE_BEFORE).holds()).isFalse();
      assertThat(done().call(submit("one", 1000), Outcome.CREATED).holds()).isFalse();
    }

    @Test
    void onlyTheHolderOfTheLeaseFailsAnAttempt() {
      Story second = known().at(1000).delivered("t1", "one", 1).at(2100).delivered("t2", "one", 2);
      assertThat(second.ended("t1", "one", Ending.FAILED, Outcome.LEASE_LOST).holds()).isTrue();
      Story stale = known().at(1000).delivered("t1", "one", 1).at(2100).delivered("t2", "one", 2);
      assertThat(stale.ended("t1", "one", Ending.FAILED, Outcome.RETRIED).holds()).isFalse();
    }

    @Test
    void aLateAckCountsForItsOwnIncarnationOnly() {
      Story late =
          known()
              .at(1000)
              .delivered("t1", "one", 1)
              .ended("t1", "one", Ending.FAILED, Outcome.RETRIED);
      assertThat(late.ended("t1", "one", Ending.DONE, Outcome.ENDED).holds()).isTrue();
      Story stale =
          known()
              .at(1000)
              .delivered("t1", "one", 1)
              .ended("t1", "one", Ending.FAILED, Outcome.RETRIED)
              .call(replace("two", 9000), Outcome.REPLACED);
      assertThat(stale.ended("t1", "one", Ending.DONE, Outcome.ENDED).holds()).isFalse();
    }

    @Test
    void aBackOffIsWaitedFor() {
      Action.End failed = new Action.End("t1", "of one", Ending.FAILED, 5_000_000);
      Story early =
          known()
              .at(1000)
              .delivered("t1", "one", 1)
              .call(failed, Outcome.RETRIED)
              .at(3000)
              .delivered("t2", "one", 2);
      assertThat(early.holds()).isFalse();
      Story onTime =
          known()
              .at(1000)
              .delivered("t1", "one", 1)
              .call(failed, Outcome.RETRIED)
              .at(6010)
              .delivered("t2", "one", 2);
      assertThat(onTime.holds()).isTrue();
    }

    @Test
    void attemptsAreCounted() {
      Story failed =
          known()
              .at(1000)
              .delivered("t1", "one", 1)
              .ended("t1", "one", Ending.FAILED, Outcome.RETRIED);
      assertThat(failed.delivered("t2", "one", 1).holds()).isFalse();
      Story released =
          known()
              .at(1000)
              .delivered("t1", "one", 1)
              .ended("t1", "one", Ending.RELEASED, Outcome.RETRIED);
      assertThat(released.delivered("t2", "one", 1).holds()).isTrue();
    }

    @Test
    void aCancelledJobIsThereAgainOnceItIsRestored() {
      Action restore = new Action.Restore();
      Story restored =
          known()
              .call(find(), waiting("one", 1000).identity("i", 1))
              .call(cancel(), Outcome.CANCELLED)
              .call(restore, Outcome.RESTORED)
              .call(restore, Outcome.RESTORED);
      assertThat(restored.call(find(), waiting("one", 1000).identity("i", 3)).holds()).isTrue();
      restored =
          known()
              .call(find(), waiting("one", 1000).identity("i", 1))
              .call(cancel(), Outcome.CANCELLED)
              .call(restore, Outcome.RESTORED);
      assertThat(restored.call(find(), waiting("one", 1000).identity("i", 1)).holds()).isFalse();
      assertThat(known().call(restore, Outcome.RESTORED).holds()).isFalse();
      Story again =
          known().call(cancel(), Outcome.CANCELLED).call(submit("two", 1000), Outcome.CREATED);
      assertThat(again.call(restore, Outcome.RESTORED).holds()).isFalse();
      assertThat(done().call(restore, Outcome.RESTORED).holds()).isFalse();
      assertThat(known().call(restore, Outcome.EXISTS).holds()).isTrue();
    }

    @Test
    void aDeadLetterRunsWhenItIsRequeued() {
      Story dead =
          known()
              .at(1000)
              .delivered("t1", "one", 1)
              .ended("t1", "one", Ending.REJECTED, Outcome.DEAD)
              .call(cancel(), Outcome.DEAD);
      assertThat(dead.holds()).isTrue();
      dead.call(new Action.Requeue(), Outcome.REQUEUED).delivered("t2", "one", 2);
      assertThat(dead.holds()).isTrue();
      Story unasked =
          known()
              .at(1000)
              .delivered("t1", "one", 1)
              .ended("t1", "one", Ending.REJECTED, Outcome.DEAD)
              .delivered("t2", "one", 2);
      assertThat(unasked.holds()).isFalse();
    }

    @Test
    void aStaleChangeIsRefused() {
      Action.Seen seen = new Action.Seen("i", 1);
      Story story =
          known()
              .call(find(), waiting("one", 1000).identity("i", 1))
              .call(reschedule(500), Answer.of(Outcome.RESCHEDULED).identity("i", 2));
      assertThat(
              story
                  .call(
                      new Action.Reschedule(Action.Due.at(700_000), seen),
                      Outcome.CHANGED_MEANWHILE)
                  .holds())
          .isTrue();
      assertThat(
              story
                  .call(new Action.Reschedule(Action.Due.at(700_000), seen), Outcome.RESCHEDULED)
                  .holds())
          .isFalse();
    }

    @Test
    void soIsOneOfAnotherJobWithTheSameId() {
      Story story =
          known()
              .call(find(), waiting("one", 1000).identity("i", 1))
              .call(cancel(), Outcome.CANCELLED)
              .call(submit("two", 1000), Outcome.CREATED)
              .call(find(), waiting("two", 1000).identity("j", 1))
              .call(new Action.Cancel(new Action.Seen("i", 1)), Outcome.CANCELLED);
      assertThat(story.holds()).isFalse();
    }

    @Test
    void versionsGrow() {
      Story story = known().call(find(), waiting("one", 1000).identity("i", 1));
      assertThat(
              story.call(reschedule(500), Answer.of(Outcome.RESCHEDULED).identity("i", 1)).holds())
          .isFalse();
      Story twice =
          known()
              .call(find(), waiting("one", 1000).identity("i", 1))
              .call(find(), waiting("one", 1000).identity("i", 2));
      assertThat(twice.holds()).isFalse();
    }

    @Test
    void aListHasWhatIsThere() {
      assertThat(known().call(new Action.CancelByTag(), Outcome.NOT_LISTED).holds()).isFalse();
      assertThat(known().call(new Action.CancelByTag(), Outcome.CANCELLED).holds()).isTrue();
    }
  }

  @Nested
  class WithoutAnAnswer {

    @Test
    void aCallMayHaveHappenedOrNot() {
      assertThat(known().unanswered(cancel()).call(find(), Outcome.CANCELLED).holds()).isTrue();
      assertThat(known().unanswered(cancel()).call(find(), Outcome.WAITING).holds()).isTrue();
    }

    @Test
    void itMayHappenLater() {
      Story late =
          known()
              .unanswered(cancel())
              .call(find(), Outcome.WAITING)
              .call(find(), Outcome.CANCELLED);
      assertThat(late.holds()).isTrue();
    }

    @Test
    void butNotTwice() {
      Story twice =
          known()
              .unanswered(cancel())
              .call(find(), Outcome.CANCELLED)
              .call(submit("two", 1000), Outcome.CREATED)
              .call(find(), Outcome.CANCELLED);
      assertThat(twice.holds()).isFalse();
    }

    @Test
    void norBeforeItWasMade() {
      assertThat(known().call(find(), Outcome.CANCELLED).unanswered(cancel()).holds()).isFalse();
    }
  }

  @Nested
  class AtTheSameTime {

    @Test
    void oneOfTwoChangesIsTheLast() {
      for (int due : new int[] {3000, 5000}) {
        Story story =
            known()
                .call(reschedule(3000), Answer.of(Outcome.RESCHEDULED), 50)
                .at(20)
                .call(reschedule(5000), Answer.of(Outcome.RESCHEDULED), 50)
                .at(100)
                .call(find(), waiting("one", due));
        assertThat(story.holds()).isTrue();
      }
    }

    @Test
    void andNeitherIsNone() {
      Story story =
          known()
              .call(reschedule(3000), Answer.of(Outcome.RESCHEDULED), 50)
              .at(20)
              .call(reschedule(5000), Answer.of(Outcome.RESCHEDULED), 50)
              .at(100)
              .call(find(), waiting("one", 1000));
      assertThat(story.holds()).isFalse();
    }

    @Test
    void everyoneSeesTheSameOrder() {
      Story story =
          known()
              .call(reschedule(3000), Answer.of(Outcome.RESCHEDULED), 50)
              .at(20)
              .call(reschedule(5000), Answer.of(Outcome.RESCHEDULED), 50)
              .at(30)
              .call(find(), waiting("one", 3000))
              .call(find(), waiting("one", 5000))
              .call(find(), waiting("one", 3000));
      assertThat(story.holds()).isFalse();
    }
  }

  @Nested
  class WhenRedisLoses {

    private static Answer confirmed(Outcome outcome) {
      return Answer.of(outcome).confirmed(true);
    }

    @Test
    void theNewestMayBeUndone() {
      Story story = known().at(100).call(cancel(), Outcome.CANCELLED).lost(50, true).at(1000);
      assertThat(story.delivered("t1", "one", 1).holds()).isTrue();
    }

    @Test
    void whatIsOlderMayNot() {
      Story story =
          known().at(100).call(cancel(), Outcome.CANCELLED).at(200).lost(150, true).at(1000);
      assertThat(story.delivered("t1", "one", 1).holds()).isFalse();
    }

    @Test
    void norWhatAReplicaHadConfirmed() {
      Story story =
          known().at(100).call(cancel(), confirmed(Outcome.CANCELLED)).lost(50, true).at(1000);
      assertThat(story.delivered("t1", "one", 1).holds()).isFalse();
    }

    @Test
    void butACopyOfAnEarlierTimeKnowsNothingOfReplicas() {
      Story story =
          known().at(100).call(cancel(), confirmed(Outcome.CANCELLED)).lost(50, false).at(1000);
      assertThat(story.delivered("t1", "one", 1).holds()).isTrue();
    }

    @Test
    void whatIsLaterThanAConfirmedChangeMayBeUndone() {
      Story story =
          known()
              .at(100)
              .call(reschedule(500), confirmed(Outcome.RESCHEDULED))
              .call(reschedule(9000), Outcome.RESCHEDULED)
              .lost(50, true)
              .call(find(), waiting("one", 500));
      assertThat(story.holds()).isTrue();
    }

    @Test
    void nothingIsInvented() {
      Story story =
          known()
              .at(100)
              .call(reschedule(5000), Outcome.RESCHEDULED)
              .call(revise("two"), Outcome.REVISED)
              .lost(50, true);
      // The revision without the move that came before it never was.
      assertThat(story.call(find(), waiting("two", 1000)).holds()).isFalse();
    }

    @Test
    void whatCameAfterwardsIsKept() {
      Story story = known().at(100).lost(50, true).call(cancel(), Outcome.CANCELLED).at(1000);
      assertThat(story.delivered("t1", "one", 1).holds()).isFalse();
    }

    @Test
    void anEndMayBeForgottenAndTheJobRunsAgain() {
      Story story = done().lost(1001, true).at(3000);
      assertThat(story.delivered("t2", "one", 2).holds()).isTrue();
      Story earlier = done().at(2000).lost(1500, true).at(4000);
      assertThat(earlier.delivered("t2", "one", 2).holds()).isFalse();
    }

    @Test
    void aRestartWithoutLossUndoesNothing() {
      Story story =
          known()
              .call(reschedule(20_000), Outcome.RESCHEDULED)
              .call(reschedule(290_000), Outcome.RESCHEDULED)
              .call(find(), waiting("one", 20_000));
      assertThat(story.holds(BROKEN)).isFalse();
    }

    @Test
    void anEmptyOneKnowsNothing() {
      assertThat(known().emptied().call(find(), Outcome.NOT_FOUND).holds()).isTrue();
      assertThat(known().emptied().call(find(), Outcome.WAITING).holds()).isFalse();
      assertThat(done().emptied().call(submit("one", 1000), Outcome.CREATED).holds()).isTrue();
      assertThat(done().emptied().call(submit("one", 1000), Outcome.DONE_BEFORE).holds()).isFalse();
    }
  }

  @Nested
  class WhereAClaimMayReachNobody {

    @Test
    void anAttemptMayBeMissing() {
      Story story = known().at(2100).delivered("t2", "one", 2);
      assertThat(story.holds()).isFalse();
      assertThat(story.holds(BROKEN)).isTrue();
    }

    @Test
    void itsLeaseMustHaveRunOut() {
      assertThat(known().at(1900).delivered("t2", "one", 3).holds(BROKEN)).isFalse();
    }

    @Test
    void aCancelMayFindItInDelivery() {
      Story story =
          known().at(1010).call(cancel(), Outcome.IN_DELIVERY).call(find(), Outcome.WAITING);
      assertThat(story.holds()).isTrue();
      Story early =
          known().at(990).call(cancel(), Outcome.IN_DELIVERY).call(find(), Outcome.WAITING);
      assertThat(early.holds(BROKEN)).isFalse();
    }
  }

  @Test
  void theShortestHistoryIsShown() {
    Story story =
        known()
            .call(find(), waiting("one", 1000))
            .call(reschedule(500), Outcome.RESCHEDULED)
            .call(reschedule(400), Outcome.RESCHEDULED)
            .call(revise("two"), Outcome.REVISED)
            .call(find(), Outcome.WAITING)
            .call(cancel(), Outcome.CANCELLED)
            .call(find(), Outcome.CANCELLED)
            .at(1000)
            .delivered("t1", "two", 1)
            .ended("t1", "two", Ending.DONE, Outcome.ENDED)
            .call(find(), Outcome.FINISHED);
    Histories.Violation violation =
        Histories.violation(story.operations(), Story.SOUND).orElseThrow();
    assertThat(violation.contradiction())
        .extracting(Operation::action)
        .hasSize(2)
        .anyMatch(Action.Cancel.class::isInstance)
        .anyMatch(Action.Deliver.class::isInstance);
    assertThat(violation.toString())
        .startsWith("job a cannot have had this history:")
        .contains("CANCELLED", "or not at all");
  }
}
