package io.punctual.spi;

import io.punctual.RejectTaskException;
import io.punctual.RetryLaterException;
import io.punctual.TaskContext;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of one job, as the worker saw it.
 *
 * @param attempt counted from 1
 * @param dueAt when the job was due at first
 * @param startedAt when the worker was invoked, by this machine's clock
 * @param duration how long it took, to the completion of a future
 * @param error what the worker threw, or its future completed with; null for DONE and DEFERRED
 */
public record JobAttempt(
    String taskType,
    String taskId,
    int attempt,
    Instant dueAt,
    Instant startedAt,
    Duration duration,
    Outcome outcome,
    @Nullable Throwable error) {

  /** How it ended. */
  public enum Outcome {
    /** The worker returned, or its future completed normally. */
    DONE,
    /** The job goes on without its worker, which has returned: {@link TaskContext#defer}. */
    DEFERRED,
    /** The worker threw: the job is tried again, as its retry policy says. */
    FAILED,
    /** The worker threw {@link RetryLaterException}. */
    RETRY_LATER,
    /** The worker threw {@link RejectTaskException}: the job is a dead letter. */
    REJECTED
  }
}
