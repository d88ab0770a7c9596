package io.punctual;

import java.time.Duration;

/**
 * No scheduler took the call, or all that answered asked to come back later. Transient: repeat the
 * call with the same task id; {@link #isTransient} says what that does if the lost call did arrive.
 */
public class SchedulerUnavailableException extends PunctualException {

  private static final long serialVersionUID = 1L;

  private final Duration retryAfter;
  private final boolean mayHaveTakenEffect;

  /**
   * A call that may have taken effect.
   *
   * @param retryAfter when a repetition may be worth it
   */
  public SchedulerUnavailableException(String message, Duration retryAfter, Throwable cause) {
    this(message, retryAfter, /* mayHaveTakenEffect= */ true, cause);
  }

  /**
   * A call whose outcome is known, or not.
   *
   * @param retryAfter when a repetition may be worth it
   * @param mayHaveTakenEffect false where it is certain that nothing was changed
   */
  public SchedulerUnavailableException(
      String message, Duration retryAfter, boolean mayHaveTakenEffect, Throwable cause) {
    super(ErrorCode.UNAVAILABLE, message, cause);
    this.retryAfter = retryAfter;
    this.mayHaveTakenEffect = mayHaveTakenEffect;
  }

  /** Returns how long to wait before repeating the call, as far as anybody knows. */
  public Duration retryAfter() {
    return retryAfter;
  }

  /**
   * Returns whether the call may have taken effect although nobody confirmed it; false where it is
   * certain that nothing was changed, as when no scheduler accepted a connection.
   */
  public boolean mayHaveTakenEffect() {
    return mayHaveTakenEffect;
  }
}
