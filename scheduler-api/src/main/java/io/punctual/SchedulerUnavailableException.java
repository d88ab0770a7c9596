package io.punctual;

import java.time.Duration;

/**
 * No scheduler answered, or all that did asked to come back later. Transient: repeat the call with
 * the same task id; {@link #isTransient} says what that does if the lost call did arrive.
 */
public class SchedulerUnavailableException extends PunctualException {

  private static final long serialVersionUID = 1L;

  private final Duration retryAfter;

  /**
   * @param retryAfter when a repetition may be worth it
   */
  public SchedulerUnavailableException(String message, Duration retryAfter, Throwable cause) {
    super(ErrorCode.UNAVAILABLE, message, cause);
    this.retryAfter = retryAfter;
  }

  /** How long to wait before repeating the call, as far as anybody knows. */
  public Duration retryAfter() {
    return retryAfter;
  }
}
