package io.punctual.benchmark;

import java.util.Arrays;
import java.util.Collection;
import java.util.Locale;

/** Measured durations, in microseconds, in order. */
final class Distribution {

  private static final int[] PERCENTILES = {50, 90, 99};

  private final long[] sorted;

  Distribution(Collection<Long> micros) {
    this.sorted = micros.stream().mapToLong(Long::longValue).sorted().toArray();
    if (sorted.length == 0) {
      throw new IllegalArgumentException("nothing was measured");
    }
  }

  int count() {
    return sorted.length;
  }

  double minMillis() {
    return sorted[0] / 1000.0;
  }

  double maxMillis() {
    return sorted[sorted.length - 1] / 1000.0;
  }

  /** The smallest value that at least so many per cent of all are not above (nearest rank). */
  double percentileMillis(double percent) {
    int rank = (int) Math.ceil(percent / 100 * sorted.length);
    return sorted[Math.max(rank, 1) - 1] / 1000.0;
  }

  /** One line of figures for people. */
  String line() {
    StringBuilder line = new StringBuilder("min %.1f".formatted(minMillis()));
    for (int percent : PERCENTILES) {
      line.append("  p%d %.1f".formatted(percent, percentileMillis(percent)));
    }
    return line.append("  max %.1f ms".formatted(maxMillis())).toString();
  }

  /** The shape: how many there are up to each of some limits. */
  String histogram() {
    long[] limits = {1, 2, 3, 5, 10, 20, 50, 100, 1000, Long.MAX_VALUE / 1000};
    StringBuilder lines = new StringBuilder();
    int below = 0;
    for (long limit : limits) {
      int upTo = (int) Arrays.stream(sorted).filter(micros -> micros <= limit * 1000).count();
      int here = upTo - below;
      String label = limit > 1000 ? "more" : "<= " + limit + " ms";
      lines.append(
          "%10s %6d %s%n"
              .formatted(label, here, "#".repeat(Math.ceilDiv(here * 60, sorted.length))));
      below = upTo;
    }
    return lines.toString();
  }

  /** The figures as members of a JSON object. */
  String json() {
    return String.format(
        Locale.ROOT,
        "\"count\":%d,\"minMs\":%.3f,\"p50Ms\":%.3f,\"p90Ms\":%.3f,\"p99Ms\":%.3f,\"maxMs\":%.3f",
        count(),
        minMillis(),
        percentileMillis(50),
        percentileMillis(90),
        percentileMillis(99),
        maxMillis());
  }
}
