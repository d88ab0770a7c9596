package io.punctual.benchmark;

import java.util.Arrays;
import java.util.Locale;

/**
 * Something measured several times.
 *
 * @param part which work, as in the table
 * @param who whose figure it is
 * @param metric what was measured, with its unit
 * @param values one a repetition
 * @param note what to know about it: accounting that was not clean, another number of jobs
 */
public record Figure(String part, String who, String metric, double[] values, String note) {

  /** The metric whose values are milliseconds at {@link Distribution#PERCENTILES}. */
  public static final String DISTRIBUTION = "ms at percentiles";

  /** The middle one; of an even number, the mean of the two in the middle. */
  public double median() {
    double[] sorted = sorted();
    int half = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }

  /** The smallest. */
  public double min() {
    return sorted()[0];
  }

  /** The largest. */
  public double max() {
    return sorted()[values.length - 1];
  }

  private double[] sorted() {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted;
  }

  /** Median and range for people. */
  String text() {
    return values.length == 1
        ? number(values[0])
        : number(median()) + " (" + number(min()) + "-" + number(max()) + ")";
  }

  private static String number(double value) {
    if (Math.abs(value) >= 100) {
      return String.format(Locale.ROOT, "%,.0f", value);
    }
    return String.format(Locale.ROOT, Math.abs(value) >= 10 ? "%.1f" : "%.2f", value);
  }

  @Override
  public String toString() {
    return part + " " + who + " " + metric + ": " + text() + (note.isEmpty() ? "" : "; " + note);
  }
}
