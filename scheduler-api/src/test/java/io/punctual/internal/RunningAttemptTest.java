package io.punctual.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.LeaseLostException;
import io.punctual.RejectTaskException;
import io.punctual.RetryLaterException;
import io.punctual.SchedulerUnavailableException;
import io.punctual.TaskContext;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RunningAttemptTest {

  private static final Instant START = Instant.parse("2026-03-01T12:00:00Z");
  private static final Instant FIRST_DUE = START.minusSeconds(300);

  private final TimeLimit limit =
      new TimeLimit(Duration.ofSeconds(30), () -> this.happened.add("time over"));
  private final List<String> happened = new ArrayList<>();
  private final AskedLease lease = new AskedLease();
  private Instant now = START;

  @Test
  void itKnowsTheJobAndHowLateItIs() {
    TaskContext context = attempt(START.minusSeconds(10));

    assertThat(context.taskType()).isEqualTo("mail");
    assertThat(context.taskId()).isEqualTo("7");
    assertThat(context.attempt()).isEqualTo(2);
    assertThat(context.headers()).containsExactly(Map.entry("a", "b"));
    assertThat(context.dueAt()).isEqualTo(FIRST_DUE);
    assertThat(context.lateness()).isEqualTo(Duration.ofSeconds(10));
    assertThat(context.deadline()).isEqualTo(START.plusSeconds(30));
    assertThat(attempt(START.plusSeconds(60)).lateness()).isZero();
  }

  @Test
  void itEndsAsTheWorkerSays() {
    TaskContext context = attempt(START);

    assertThatThrownBy(() -> context.reject("no such order"))
        .isInstanceOf(RejectTaskException.class)
        .hasMessage("no such order");
    assertThatThrownBy(() -> context.retryAfter(Duration.ofMinutes(2)))
        .isInstanceOfSatisfying(
            RetryLaterException.class, e -> assertThat(e.delay()).isEqualTo(Duration.ofMinutes(2)));
  }

  @Test
  void whenItsTimeIsOverActionsRunAndThenItIsInterrupted() {
    TaskContext context = attempt(START);
    context.onCancel(
        () -> {
          throw new IllegalStateException("broken, as asked");
        });
    context.onCancel(() -> happened.add("interrupted " + Thread.currentThread().isInterrupted()));

    assertThat(context.isCancelled()).isFalse();
    limit.strike();
    limit.strike();
    assertThat(context.isCancelled()).isTrue();
    context.onCancel(() -> happened.add("late"));

    assertThat(happened).containsExactly("time over", "interrupted false", "late");
    limit.over();
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void nothingIsCancelledAfterTheEnd() {
    TaskContext context = attempt(START);
    context.onCancel(() -> happened.add("cancelled"));

    limit.over();
    limit.strike();
    limit.interrupt();

    assertThat(happened).isEmpty();
    assertThat(context.isCancelled()).isFalse();
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void theEndOfTheProcessCancelsToo() {
    TaskContext context = attempt(START);
    context.onCancel(() -> happened.add("cancelled"));

    limit.interrupt();
    limit.interrupt();

    assertThat(happened).containsExactly("cancelled");
    assertThat(context.isCancelled()).isTrue();
    limit.over();
  }

  @Test
  void moreTimeIsCountedFromNowAndNeverLessThanThereWas() {
    TaskContext context = attempt(START);
    now = START.plusSeconds(10);

    context.extend(Duration.ofSeconds(5));
    assertThat(context.deadline()).isEqualTo(START.plusSeconds(30));
    context.extend(Duration.ofMinutes(10));
    assertThat(context.deadline()).isEqualTo(START.plusSeconds(610));

    assertThat(lease.asked).containsExactly("extend PT5S", "extend PT10M");
    assertThat(limit.left()).isBetween(Duration.ofMinutes(9), Duration.ofMinutes(10));
  }

  @Test
  void moreTimeHasBounds() {
    TaskContext context = attempt(START);

    for (Duration wrong : List.of(Duration.ZERO, Duration.ofMillis(999), Duration.ofHours(25))) {
      assertThatThrownBy(() -> context.extend(wrong))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("between PT1S and PT24H");
    }
    assertThat(lease.asked).isEmpty();
  }

  @Test
  void whoAsksAndHasLostTheJobIsCancelled() {
    TaskContext context = attempt(START);
    context.onCancel(() -> happened.add("cancelled"));
    lease.refusal = new LeaseLostException("attempt 3 has it");

    assertThatThrownBy(() -> context.extend(Duration.ofMinutes(1))).isSameAs(lease.refusal);

    assertThat(happened).containsExactly("cancelled");
    assertThat(context.isCancelled()).isTrue();
    limit.over();
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void whoAsksAndIsNotAnsweredGoesOn() {
    TaskContext context = attempt(START);
    lease.refusal =
        new SchedulerUnavailableException("nobody", Duration.ofSeconds(1), new Exception());

    assertThatThrownBy(() -> context.extend(Duration.ofMinutes(1))).isSameAs(lease.refusal);
    assertThat(context.isCancelled()).isFalse();
  }

  @Test
  void whoWasStoppedGetsNoMoreTime() {
    TaskContext context = attempt(START);
    limit.strike();

    assertThatThrownBy(() -> context.extend(Duration.ofMinutes(1)))
        .isInstanceOf(LeaseLostException.class)
        .hasMessageContaining(
            "attempt 2 of mail/7 was stopped: its time-to-run of 30000 ms was over");
    assertThat(lease.asked).isEmpty();
    limit.over();
  }

  @Test
  void whatIsLeftToSomebodyElseIsNotStoppedWhenTheyTakeTheLease() {
    RunningAttempt context = attempt(START);
    context.onCancel(() -> happened.add("cancelled"));
    assertThat(context.deferred()).isNull();

    assertThat(context.defer(Duration.ofDays(3))).isEqualTo("the-handle");
    assertThat(context.defer(Duration.ofHours(1))).isEqualTo("the-handle");
    limit.lose();

    assertThat(lease.asked).containsExactly("defer PT72H", "defer PT1H");
    assertThat(context.deferred()).isBetween(Duration.ofHours(71), Duration.ofHours(72));
    assertThat(happened).isEmpty();
    assertThatThrownBy(() -> context.defer(Duration.ofDays(31)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("between PT1S and PT720H");
  }

  @Test
  void whoHasLostTheJobLeavesItToNobody() {
    RunningAttempt context = attempt(START);
    lease.refusal = new LeaseLostException("attempt 3 has it");

    assertThatThrownBy(() -> context.defer(Duration.ofDays(3))).isSameAs(lease.refusal);

    assertThat(context.deferred()).isNull();
    assertThat(context.isCancelled()).isTrue();
    limit.over();
  }

  private RunningAttempt attempt(Instant lateSince) {
    return new RunningAttempt(
        "mail",
        "7",
        "abc",
        2,
        FIRST_DUE.toEpochMilli(),
        lateSince.toEpochMilli(),
        Map.of("a", "b"),
        () -> now,
        limit,
        lease);
  }
}
