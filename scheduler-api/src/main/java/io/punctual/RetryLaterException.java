package io.punctual;

import io.punctual.wire.Limits;
import java.time.Duration;

/**
 * Thrown by a {@link TaskWorker}: the attempt failed, try again after the given delay instead of
 * the one in the retry policy. It counts as an attempt like any other failure.
 */
public class RetryLaterException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final Duration delay;

  /**
   * @param delay from now; zero or more, at most {@link Limits#MAX_RETRY_DELAY}
   * @param reason why, in words for whoever looks at the job
   * @throws IllegalArgumentException if the delay is outside that range
   */
  public RetryLaterException(Duration delay, String reason) {
    super(reason);
    if (delay.isNegative() || delay.compareTo(Limits.MAX_RETRY_DELAY) > 0) {
      throw new IllegalArgumentException(
          "delay must be between 0 and " + Limits.MAX_RETRY_DELAY + ", not " + delay);
    }
    this.delay = delay;
  }

  /** How long to wait before the next attempt. */
  public Duration delay() {
    return delay;
  }
}
