package io.punctual.benchmark;

import java.util.Arrays;

/** Measured durations, in microseconds. */
public final class Distribution {

  private final long[] sorted;

  /**
   * @throws IllegalArgumentException if there are none
   */
  public Distribution(long[] micros) {
    this.sorted = micros.clone();
    Arrays.sort(sorted);
    if (sorted.length == 0) {
      throw new IllegalArgumentException("nothing was measured");
    }
  }

  /** The largest. */
  public double maxMillis() {
    return sorted[sorted.length - 1] / 1000.0;
  }

  /** The smallest value that at least so many per cent of all are not above (nearest rank). */
  public double percentileMillis(double percent) {
    int rank = (int) Math.ceil(percent / 100 * sorted.length);
    return sorted[Math.max(rank, 1) - 1] / 1000.0;
  }
}
