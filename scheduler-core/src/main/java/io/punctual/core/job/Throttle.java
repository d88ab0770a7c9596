package io.punctual.core.job;

import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The limits of jobs in flight, whatever capacity workers have.
 *
 * @param concurrency at once, 1 to 1,000,000; null for any number
 * @param rate in a time; null for any number
 */
public record Throttle(@Nullable Integer concurrency, @Nullable Rate rate) {

  /** No bounds. */
  public static final Throttle NONE = new Throttle(null, null);

  public static final int MOST = 1_000_000;

  /** Checks the range. */
  public Throttle {
    if (concurrency != null && (concurrency < 1 || concurrency > MOST)) {
      throw new IllegalArgumentException(
          "concurrency must be 1 to 1,000,000, or none, not " + concurrency);
    }
  }

  /**
   * So many jobs in a time. At most a second's worth of them goes out in one moment.
   *
   * @param jobs 1 to 1,000,000
   * @param period 1 ms to 30 days; for one of several buckets, so many times as long
   */
  public record Rate(int jobs, Duration period) {

    static final Duration LONGEST = Duration.ofDays(30);
    public static final Duration LONGEST_OF_PART = LONGEST.multipliedBy(Bucket.MAX_BUCKETS);
    private static final Pattern TEXT = Pattern.compile("(\\d{1,7})/(\\d{0,9})(ms|s|m|h|d)");

    /** Checks the ranges. */
    public Rate {
      if (jobs < 1 || jobs > MOST) {
        throw new IllegalArgumentException("rate must be of 1 to 1,000,000 jobs, not " + jobs);
      }
      if (period.toMillis() < 1 || period.compareTo(LONGEST_OF_PART) > 0) {
        throw new IllegalArgumentException("rate must be over 1 ms to 30 days, not " + period);
      }
    }

    /** What each of so many buckets may have of it. */
    public Rate part(int buckets) {
      return new Rate(jobs, period.multipliedBy(buckets));
    }

    /** What so many buckets have together, if this is the part of each. */
    public Rate whole(int buckets) {
      return new Rate(jobs, period.dividedBy(buckets));
    }

    /**
     * Reads a rate.
     *
     * @param text such as {@code 100/s}, {@code 5/m} or {@code 10/30s}
     * @throws IllegalArgumentException for other texts
     */
    public static Rate parse(String text) {
      Matcher parts = TEXT.matcher(text.toLowerCase(Locale.ROOT));
      if (!parts.matches()) {
        throw new IllegalArgumentException(
            "rate must be a number of jobs and a time, such as 100/s, 5/m or 10/30s, not '"
                + text
                + "'");
      }
      long count = parts.group(2).isEmpty() ? 1 : Long.parseLong(parts.group(2));
      Duration unit =
          switch (parts.group(3)) {
            case "ms" -> Duration.ofMillis(1);
            case "s" -> Duration.ofSeconds(1);
            case "m" -> Duration.ofMinutes(1);
            case "h" -> Duration.ofHours(1);
            default -> Duration.ofDays(1);
          };
      Duration period = unit.multipliedBy(count);
      if (period.compareTo(LONGEST) > 0) {
        throw new IllegalArgumentException("rate must be over 1 ms to 30 days, not '" + text + "'");
      }
      return new Rate(Integer.parseInt(parts.group(1)), period);
    }

    @Override
    public String toString() {
      long millis = period.toMillis();
      String[] units = {"d", "h", "m", "s"};
      long[] lengths = {86_400_000, 3_600_000, 60_000, 1_000};
      for (int i = 0; i < units.length; i++) {
        if (millis % lengths[i] == 0) {
          return jobs + "/" + number(millis / lengths[i]) + units[i];
        }
      }
      return jobs + "/" + number(millis) + "ms";
    }

    private static String number(long count) {
      return count == 1 ? "" : Long.toString(count);
    }
  }
}
