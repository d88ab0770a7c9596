package io.punctual.benchmark;

import java.util.Arrays;

/** Measured durations, in microseconds. */
public final class Distribution {

  /** Those that a curve is drawn from; as many of them as there are values for. */
  static final double[] PERCENTILES = {
    0, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 99.75, 99.9, 99.95, 99.99
  };

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

  /** The milliseconds of each of the percentiles beyond which at least two values lie. */
  public double[] curveMillis() {
    return Arrays.stream(PERCENTILES)
        .takeWhile(percent -> (100 - percent) / 100 * sorted.length >= 2)
        .map(this::percentileMillis)
        .toArray();
  }
}
