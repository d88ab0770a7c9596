package io.punctual.wire;

import org.jspecify.annotations.Nullable;

/**
 * One line of the answer to a {@link CallbackRequest}, sent as soon as that job ended.
 *
 * @param outcome {@code done}, {@code retry}, {@code reject}, or {@code refused} (not started: this
 *     instance does not know the task type or is shutting down; no attempt)
 * @param retryAfterMs for {@code retry}: milliseconds to wait; null leaves it to the retry policy
 * @param error for all but {@code done}: what went wrong, for people
 */
public record CallbackResult(
    String taskId,
    String incarnation,
    String outcome,
    @Nullable Long retryAfterMs,
    @Nullable String error) {

  /** The worker returned normally. */
  public static final String DONE = "done";

  /** The worker failed; try again. */
  public static final String RETRY = "retry";

  /** The worker says never again. */
  public static final String REJECT = "reject";

  /** The worker was not invoked. */
  public static final String REFUSED = "refused";
}
