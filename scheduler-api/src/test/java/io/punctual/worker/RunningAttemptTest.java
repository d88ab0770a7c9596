package io.punctual.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.RejectTaskException;
import io.punctual.RetryLaterException;
import io.punctual.TaskContext;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RunningAttemptTest {

  private static final Instant START = Instant.parse("2026-03-01T12:00:00Z");

  private final TimeLimit limit =
      new TimeLimit(Thread.currentThread(), () -> this.happened.add("time over"));
  private final List<String> happened = new ArrayList<>();

  @Test
  void itKnowsTheJobAndHowLateItIs() {
    TaskContext context = attempt(START.minusSeconds(10));

    assertThat(context.taskType()).isEqualTo("mail");
    assertThat(context.taskId()).isEqualTo("7");
    assertThat(context.attempt()).isEqualTo(2);
    assertThat(context.headers()).containsExactly(Map.entry("a", "b"));
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

  private TaskContext attempt(Instant dueAt) {
    return new RunningAttempt(
        "mail",
        "7",
        "abc",
        2,
        dueAt.toEpochMilli(),
        Map.of("a", "b"),
        START,
        Duration.ofSeconds(30),
        limit);
  }
}
