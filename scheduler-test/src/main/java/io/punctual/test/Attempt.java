package io.punctual.test;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One run of a worker, as {@link TestScheduler#attempts} remembers it.
 *
 * @param number of the attempt, counted from 1; the same twice where a job was delivered twice
 * @param params the text that the worker got
 * @param dueAt when the job was due at first
 * @param lateSince from when on this attempt was late, as {@link io.punctual.TaskContext#lateness}
 *     counts
 * @param at when it ran, by the scheduler's clock
 * @param outcome what the scheduler made of it
 * @param error what the worker threw or its future completed with; null if it returned, or was not
 *     reached
 */
public record Attempt(
    String taskType,
    String taskId,
    int number,
    String params,
    Instant dueAt,
    Instant lateSince,
    Instant at,
    Outcome outcome,
    @Nullable Throwable error) {

  /** How an attempt ended, for the scheduler. */
  public enum Outcome {
    /** The worker returned: the job is finished. */
    DONE,
    /**
     * The job goes on without its worker, which has returned: {@link
     * io.punctual.TaskContext#defer}.
     */
    DEFERRED,
    /** The worker threw: the job is tried again, as its retry policy says, or is a dead letter. */
    FAILED,
    /** The worker threw {@link io.punctual.RetryLaterException}. */
    RETRY_LATER,
    /** The worker threw {@link io.punctual.RejectTaskException}: the job is a dead letter. */
    REJECTED,
    /** The worker threw after its job was cancelled while it ran: the job is gone. */
    CANCELLED,
    /**
     * The scheduler did not hear how it ended, by one of the {@link Faults}, or since its future
     * was not completed within its time-to-run: the job is tried again.
     */
    UNKNOWN
  }

  /** Returns how late it ran, as {@link io.punctual.TaskContext#lateness} does. */
  public Duration lateness() {
    return Duration.between(lateSince, at);
  }

  /** One line, for messages. */
  @Override
  public String toString() {
    return "%s %s, attempt %d at %s: %s%s"
        .formatted(taskType, taskId, number, at, outcome, error == null ? "" : " (" + error + ")");
  }
}
