package io.punctual.worker;

import io.punctual.TaskContext;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/** An attempt that begins on this thread, as its worker sees it. */
public final class RunningAttempt implements TaskContext {

  private final String taskType;
  private final String taskId;
  private final String incarnation;
  private final int attempt;
  private final Instant dueAt;
  private final Map<String, String> headers;
  private final Instant startedAt;
  private final Instant deadline;
  private final TimeLimit limit;

  /**
   * An attempt that begins.
   *
   * @param dueTime epoch ms at which the job was due at first
   * @param startedAt when it begins
   * @param timeToRun how long it may take
   * @param limit what ends it early
   */
  public RunningAttempt(
      String taskType,
      String taskId,
      String incarnation,
      int attempt,
      long dueTime,
      Map<String, String> headers,
      Instant startedAt,
      Duration timeToRun,
      TimeLimit limit) {
    this.taskType = taskType;
    this.taskId = taskId;
    this.incarnation = incarnation;
    this.attempt = attempt;
    this.dueAt = Instant.ofEpochMilli(dueTime);
    this.headers = headers;
    this.startedAt = startedAt;
    this.deadline = startedAt.plus(timeToRun);
    this.limit = limit;
  }

  @Override
  public String taskId() {
    return taskId;
  }

  @Override
  public String incarnation() {
    return incarnation;
  }

  @Override
  public String taskType() {
    return taskType;
  }

  @Override
  public int attempt() {
    return attempt;
  }

  @Override
  public Instant dueAt() {
    return dueAt;
  }

  @Override
  public Duration lateness() {
    Duration late = Duration.between(dueAt, startedAt);
    return late.isNegative() ? Duration.ZERO : late;
  }

  @Override
  public Instant deadline() {
    return deadline;
  }

  @Override
  public Map<String, String> headers() {
    return Map.copyOf(headers);
  }

  @Override
  public boolean isCancelled() {
    return limit.struck();
  }

  @Override
  public void onCancel(Runnable action) {
    limit.onStrike(action);
  }

  @Override
  public String toString() {
    return "attempt " + attempt + " of " + taskType + "/" + taskId;
  }
}
