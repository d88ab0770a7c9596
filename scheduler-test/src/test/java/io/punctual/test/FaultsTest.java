package io.punctual.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.DelayQueueJob;
import io.punctual.JobConflictException;
import io.punctual.RetryPolicy;
import io.punctual.SchedulerUnavailableException;
import io.punctual.SubmitResult;
import io.punctual.TaskSubmitService;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FaultsTest {

  private static final String TYPE = "order.close";
  private static final Instant START = Instant.parse("2026-03-01T12:00:00Z");

  private final TestScheduler scheduler = TestScheduler.builder().startingAt(START).build();
  private final TaskSubmitService tasks = scheduler.taskSubmitService();
  private final List<String> ran = new ArrayList<>();

  private static DelayQueueJob job() {
    return DelayQueueJob.of(TYPE)
        .taskId("1")
        .params("p")
        .retry(RetryPolicy.parse("1m,1m"))
        .delay(Duration.ZERO)
        .build();
  }

  private List<Attempt.Outcome> outcomes() {
    return scheduler.attempts().stream().map(Attempt::outcome).toList();
  }

  /** How long after the job was due at first each attempt ran. */
  private List<Duration> waits() {
    return scheduler.attempts().stream()
        .map(attempt -> Duration.between(attempt.dueAt(), attempt.at()))
        .toList();
  }

  @Test
  void workWhoseAnswerIsLostIsDoneAgain() {
    scheduler.register(TYPE, ran::add);
    scheduler.faults().loseAnswer(TYPE).loseAnswer(TYPE);
    tasks.send(job());

    scheduler.advance(Duration.ofMinutes(1));

    assertThat(ran).containsExactly("p", "p", "p");
    assertThat(outcomes())
        .containsExactly(Attempt.Outcome.UNKNOWN, Attempt.Outcome.UNKNOWN, Attempt.Outcome.DONE);
    assertThat(waits())
        .containsExactly(Duration.ZERO, Duration.ofSeconds(1), Duration.ofSeconds(3));
    assertThat(scheduler.jobs()).isEmpty();
  }

  @Test
  void whatIsNeverHeardOfIsADeadLetterInTheEnd() {
    scheduler.register(TYPE, ran::add);
    scheduler.faults().loseAnswer(TYPE).killWorker(TYPE).loseAnswer(TYPE);
    tasks.send(job());

    scheduler.advance(Duration.ofHours(1));

    assertThat(ran).hasSize(2);
    assertThat(scheduler.deadLetters()).hasSize(1);
    assertThat(scheduler.deadLetters().get(0).failures().get(0))
        .isEqualTo("unknown: the connection broke before the answer was there");
  }

  @Test
  void aJobThatIsDeliveredTwiceRunsTwiceAndEndsOnce() {
    scheduler.register(TYPE, ran::add);
    scheduler.faults().deliverTwice(TYPE);
    tasks.send(job());

    scheduler.advance(Duration.ofHours(1));

    assertThat(ran).containsExactly("p", "p");
    assertThat(scheduler.attempts().stream().map(Attempt::number)).containsExactly(1, 1);
    assertThat(scheduler.jobs()).isEmpty();
  }

  @Test
  void aJobThatIsDoneTheSecondTimeIsDone() {
    scheduler.register(
        TYPE,
        params -> {
          ran.add(params);
          if (ran.size() == 1) {
            throw new IllegalStateException("the first fails");
          }
        });
    scheduler.faults().deliverTwice(TYPE);
    tasks.send(job());

    scheduler.advance(Duration.ofHours(1));

    assertThat(outcomes()).containsExactly(Attempt.Outcome.FAILED, Attempt.Outcome.DONE);
    assertThat(scheduler.jobs()).isEmpty();
  }

  @Test
  void aWorkerThatIsKilledBeforeItBeginsDoesNothing() {
    scheduler.register(TYPE, ran::add);
    scheduler.faults().killWorker(TYPE);
    tasks.send(job());

    scheduler.runDue();
    assertThat(ran).isEmpty();
    assertThat(outcomes()).containsExactly(Attempt.Outcome.UNKNOWN);

    scheduler.advance(Duration.ofSeconds(1));
    assertThat(ran).containsExactly("p");
    assertThat(scheduler.attempts().get(1).number()).isEqualTo(2);
  }

  @Test
  void aWorkerIsKilledInTheMidstOfItsWork() {
    scheduler.register(
        TYPE,
        params -> {
          ran.add("taken");
          try {
            if (ran.size() == 1) {
              throw scheduler.faults().killWorkerHere();
            }
          } catch (Exception e) {
            ran.add("caught");
          }
          ran.add("sent");
        });
    tasks.send(job());

    scheduler.runDue();
    assertThat(ran).containsExactly("taken");
    scheduler.advance(Duration.ofSeconds(1));
    assertThat(ran).containsExactly("taken", "taken", "sent");
    assertThat(outcomes()).containsExactly(Attempt.Outcome.UNKNOWN, Attempt.Outcome.DONE);
  }

  @Test
  void aWorkerThatCatchesEverythingIsKilledAllTheSame() {
    scheduler.register(
        TYPE,
        params -> {
          try {
            throw scheduler.faults().killWorkerHere();
          } catch (Throwable e) {
            ran.add("survived");
          }
        });
    tasks.send(job());

    scheduler.runDue();

    assertThat(outcomes()).containsExactly(Attempt.Outcome.UNKNOWN);
    assertThatThrownBy(() -> scheduler.faults().killWorkerHere())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("no worker runs on this one");
  }

  @Test
  void theJobOfASchedulerThatDiesIsTakenOverWhenItsLeaseIsOver() {
    scheduler.register(TYPE, ran::add);
    scheduler.faults().killScheduler(TYPE);
    tasks.send(job());

    scheduler.advance(Duration.ofMillis(9_999));
    assertThat(ran).hasSize(1);
    assertThat(scheduler.jobs(TYPE).get(0).state()).isEqualTo(StoredJob.State.IN_DELIVERY);

    scheduler.advance(Duration.ofMillis(1));
    assertThat(waits()).containsExactly(Duration.ZERO, Duration.ofSeconds(10));
    assertThat(scheduler.jobs()).isEmpty();
  }

  @Test
  void withoutASchedulerNothingIsTakenAndNothingRuns() {
    scheduler.register(TYPE, ran::add);
    tasks.send(job());
    scheduler.faults().schedulerAway();

    assertThatThrownBy(() -> tasks.send(TYPE, "2", Duration.ZERO))
        .isInstanceOf(SchedulerUnavailableException.class)
        .hasMessageContaining("faults().schedulerAway()");
    assertThatThrownBy(() -> tasks.cancel(TYPE, "1"))
        .isInstanceOf(SchedulerUnavailableException.class);
    assertThat(scheduler.advance(Duration.ofHours(1))).isEmpty();
    assertThat(scheduler.now()).isEqualTo(START.plusSeconds(3600));

    scheduler.faults().schedulerBack();
    scheduler.runDue();
    assertThat(ran).containsExactly("p");
    assertThat(waits()).containsExactly(Duration.ofHours(1));
  }

  @Test
  void aSchedulerThatGoesWhileJobsAreDueLeavesTheOthersWaiting() {
    scheduler.register(
        TYPE,
        params -> {
          ran.add(params);
          scheduler.faults().schedulerAway();
        });
    tasks.send(TYPE, "first", Duration.ofMinutes(1));
    tasks.send(TYPE, "second", Duration.ofMinutes(2));

    scheduler.advance(Duration.ofHours(1));

    assertThat(ran).containsExactly("first");
    assertThat(scheduler.jobs()).hasSize(1);
  }

  @Test
  void aSubmitWhoseAnswerIsLostMayBeRepeated() {
    scheduler.faults().loseSubmitAnswer();

    assertThatThrownBy(() -> tasks.send(job()))
        .isInstanceOf(SchedulerUnavailableException.class)
        .hasMessageContaining("repeat the call with the same task id");
    assertThat(tasks.send(job()).outcome()).isEqualTo(SubmitResult.Outcome.ALREADY_THERE);
    assertThat(scheduler.jobs()).hasSize(1);
  }

  @Test
  void anAnswerThatSaysNoCanBeLostToo() {
    tasks.send(job());
    DelayQueueJob other = tasks.job(TYPE, "other").id(job().taskId()).in(Duration.ZERO).build();
    scheduler.faults().loseSubmitAnswer();

    assertThatThrownBy(() -> tasks.send(other)).isInstanceOf(SchedulerUnavailableException.class);
    assertThatThrownBy(() -> tasks.send(other)).isInstanceOf(JobConflictException.class);
  }

  @Test
  void faultsEndWithAReset() {
    scheduler.faults().loseAnswer(TYPE).loseSubmitAnswer().schedulerAway();
    scheduler.reset();
    scheduler.register(TYPE, ran::add);
    tasks.send(job());
    scheduler.advance(Duration.ofHours(1));
    assertThat(outcomes()).containsExactly(Attempt.Outcome.DONE);
  }
}
