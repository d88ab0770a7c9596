package io.punctual.spring.once;

import io.punctual.TaskContext;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/** An attempt whose end a filter records: it cannot be deferred. */
final class OnceContext implements TaskContext {

  private final TaskContext attempt;

  OnceContext(TaskContext attempt) {
    this.attempt = attempt;
  }

  @Override
  public void extend(Duration timeToRun) {
    attempt.extend(timeToRun);
  }

  @Override
  public String defer(Duration within) {
    throw new IllegalStateException(
        "once and defer do not go together: when the method returns, %s/%s is remembered as done, and would not be run again if it is never finished. Leave once off for this type, or do what must happen once in a job of its own"
            .formatted(taskType(), taskId()));
  }

  @Override
  public String taskId() {
    return attempt.taskId();
  }

  @Override
  public String taskType() {
    return attempt.taskType();
  }

  @Override
  public String incarnation() {
    return attempt.incarnation();
  }

  @Override
  public int attempt() {
    return attempt.attempt();
  }

  @Override
  public Instant dueAt() {
    return attempt.dueAt();
  }

  @Override
  public Duration lateness() {
    return attempt.lateness();
  }

  @Override
  public Instant deadline() {
    return attempt.deadline();
  }

  @Override
  public Map<String, String> headers() {
    return attempt.headers();
  }

  @Override
  public boolean isCancelled() {
    return attempt.isCancelled();
  }

  @Override
  public void onCancel(Runnable action) {
    attempt.onCancel(action);
  }

  @Override
  public String toString() {
    return attempt.toString();
  }
}
