package io.punctual.core.job;

import io.punctual.DelayQueueJob;
import java.util.Objects;

/**
 * A due time: an instant, or a delay after the store accepts the job.
 *
 * @param relative whether {@code millis} counts from the store's clock
 * @param millis epoch milliseconds, or a delay in milliseconds; 0 or more
 */
public record Due(boolean relative, long millis) {

  /** Due at that epoch millisecond. */
  public static Due at(long epochMillis) {
    return new Due(false, epochMillis);
  }

  /** When a job shall be due. */
  public static Due of(DelayQueueJob job) {
    return job.delay() != null
        ? in(job.delay().toMillis())
        : at(Objects.requireNonNull(job.delayTime()));
  }

  /** Due that many milliseconds from now by the store's clock. */
  public static Due in(long millis) {
    return new Due(true, millis);
  }

  /** Checks that the value is not negative. */
  public Due {
    if (millis < 0) {
      throw new IllegalArgumentException("a due time must not be negative, was " + millis);
    }
  }
}
