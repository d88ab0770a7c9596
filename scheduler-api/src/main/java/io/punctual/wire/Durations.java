package io.punctual.wire;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The short text form of durations: {@code 250ms}, {@code 0s}, {@code 10m}, {@code 2h}. */
public final class Durations {

  private static final Pattern SHORT = Pattern.compile("(\\d{1,15})(ms|s|m|h|d)");

  private Durations() {}

  /**
   * Reads a duration in the short form, or in that of ISO 8601.
   *
   * @throws IllegalArgumentException if the text is neither
   */
  public static Duration parse(String text) {
    Matcher matcher = SHORT.matcher(text);
    try {
      if (!matcher.matches()) {
        return Duration.parse(text);
      }
      long amount = Long.parseLong(matcher.group(1));
      return switch (matcher.group(2)) {
        case "ms" -> Duration.ofMillis(amount);
        case "s" -> Duration.ofSeconds(amount);
        case "m" -> Duration.ofMinutes(amount);
        case "h" -> Duration.ofHours(amount);
        default -> Duration.ofDays(amount);
      };
    } catch (DateTimeParseException | ArithmeticException e) {
      throw new IllegalArgumentException(
          "not a duration: '" + text + "'; write for instance 500ms, 30s, 10m, 2h or 1d", e);
    }
  }

  /** Writes whole milliseconds in the largest unit that divides them. */
  public static String format(Duration duration) {
    long ms = duration.toMillis();
    if (ms % 1000 != 0) {
      return ms + "ms";
    }
    long s = ms / 1000;
    if (s == 0 || s % 60 != 0) {
      return s + "s";
    }
    return s % 3600 == 0 ? s / 3600 + "h" : s / 60 + "m";
  }
}
