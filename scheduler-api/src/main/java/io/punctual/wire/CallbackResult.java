package io.punctual.wire;

import org.jspecify.annotations.Nullable;

/**
 * One line of the answer to a {@link CallbackRequest}, sent as soon as that job ended, or wants
 * more time.
 *
 * @param outcome {@code done}, {@code retry}, {@code reject}, {@code refused} (not started: this
 *     instance does not know the task type or is shutting down; no attempt), {@code extended} (it
 *     goes on; another line follows), or {@code deferred} (it goes on without this instance, and is
 *     ended by its token)
 * @param retryAfterMs for {@code retry}: milliseconds to wait; null leaves it to the retry policy
 * @param error for all that ends badly: what went wrong, for people
 * @param timeToRunMs for {@code extended} and {@code deferred}: milliseconds that it may take from
 *     now on
 */
public record CallbackResult(
    String taskId,
    String incarnation,
    String outcome,
    @Nullable Long retryAfterMs,
    @Nullable String error,
    @Nullable Long timeToRunMs) {

  /** The worker returned normally. */
  public static final String DONE = "done";

  /** The worker failed; try again. */
  public static final String RETRY = "retry";

  /** The worker says never again. */
  public static final String REJECT = "reject";

  /** The worker was not invoked. */
  public static final String REFUSED = "refused";

  /** The job goes on, and its time-to-run is over later. */
  public static final String EXTENDED = "extended";

  /** The job goes on elsewhere, and is ended by its token. */
  public static final String DEFERRED = "deferred";

  /** A job that goes on for that much longer. */
  public static CallbackResult extended(String taskId, String incarnation, long timeToRunMs) {
    return new CallbackResult(taskId, incarnation, EXTENDED, null, null, timeToRunMs);
  }

  /** Whether another line follows for this job. */
  public boolean goesOn() {
    return outcome.equals(EXTENDED);
  }
}
