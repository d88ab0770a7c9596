package io.punctual.server.problem;

import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Logs the first occurrence of an event immediately, then at most one line a minute with the number
 * suppressed. While Redis is away, every call is refused for the same reason.
 */
final class RareLines {

  static final Duration EVERY = Duration.ofMinutes(1);

  private final LongSupplier clock;
  private boolean begun;
  private long toldAt;
  private long leftOut;

  /**
   * @param clock monotonic ns
   */
  RareLines(LongSupplier clock) {
    this.clock = clock;
  }

  /**
   * The line to write; null while it is too early for another one, and this is only counted.
   *
   * @param message what happened this time
   */
  synchronized @Nullable String line(String message) {
    long now = clock.getAsLong();
    Duration past = Duration.ofNanos(now - toldAt);
    if (begun && past.compareTo(EVERY) < 0) {
      leftOut++;
      return null;
    }
    String more =
        leftOut == 0
            ? ""
            : " (and " + leftOut + " times more in the " + past.toSeconds() + " s before)";
    begun = true;
    toldAt = now;
    leftOut = 0;
    return message + more;
  }
}
