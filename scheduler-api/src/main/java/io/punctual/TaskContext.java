package io.punctual;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/**
 * The attempt that a worker is making: which job it is, how long it may take, and ways to end it.
 * Valid while the worker runs. Safe for use by many threads.
 */
public interface TaskContext {

  /** The job's id within its task type: the same on every attempt. */
  String taskId();

  /** The job's task type. */
  String taskType();

  /**
   * The scheduler's name for this accepted job: the same on every attempt and delivery, and another
   * one when the id is used again for another job after this one has ended. Together with task type
   * and id it is the key of what must happen once.
   */
  String incarnation();

  /** Which attempt this is, counted from 1. */
  int attempt();

  /** When the job was due at first, by the scheduler's clock. */
  Instant dueAt();

  /**
   * How long after {@link #dueAt} this attempt began, by this machine's clock; never negative. For
   * a further attempt, the waits between the attempts are part of it.
   */
  Duration lateness();

  /**
   * When the time-to-run of this attempt is over, by this machine's clock. Its thread is then
   * interrupted, and the job is delivered again unless the worker still returns.
   */
  Instant deadline();

  /** The headers of the job, as submitted. */
  Map<String, String> headers();

  /**
   * Whether nobody waits for this attempt any more: its time-to-run is over, or the process stops.
   * Once true it stays so. For loops that do not block; what blocks is interrupted.
   */
  boolean isCancelled();

  /**
   * Runs an action once when {@link #isCancelled} becomes true, before the thread is interrupted;
   * at once if it is so already. For what does not heed an interrupt, such as a statement of JDBC.
   *
   * <p>It is called on another thread, and never after the worker has returned. It must be quick,
   * and must not wait for the worker. What it throws is logged.
   */
  void onCancel(Runnable action);

  /**
   * Ends the attempt: it failed, try again after that time instead of the one in the retry policy.
   * Always throws; to be written as {@code throw context.retryAfter(...)}, so that the compiler
   * knows.
   *
   * @param delay from now; zero or more, at most {@link Limits#MAX_RETRY_DELAY}
   * @throws RetryLaterException always
   */
  default RetryLaterException retryAfter(Duration delay) {
    throw new RetryLaterException(delay, "the worker asked for another attempt after " + delay);
  }

  /**
   * Ends the job: it can never succeed, keep it as a dead letter. Always throws; to be written as
   * {@code throw context.reject(...)}, so that the compiler knows.
   *
   * @param reason why, in words for whoever looks at the dead letter
   * @throws RejectTaskException always
   */
  default RejectTaskException reject(String reason) {
    throw new RejectTaskException(reason);
  }
}
