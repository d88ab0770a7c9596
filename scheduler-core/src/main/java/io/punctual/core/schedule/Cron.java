package io.punctual.core.schedule;

import java.time.LocalDateTime;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.scheduling.support.CronExpression;

/**
 * A cron expression, in terms of local times alone: what a zone makes of them is the matter of
 * {@link Recurrence}.
 *
 * <p>Five fields are read as crontab reads them: where both days are restricted, either suffices.
 * Six fields, with seconds in front, are read as Spring reads them: both days must fit. Names,
 * {@code L}, {@code W}, {@code #} and macros such as {@code @daily} are known in both.
 */
public final class Cron {

  /** Longest expression, in characters. */
  public static final int MAX_LENGTH = 200;

  // The shortest month has 28 days.
  private static final int MAX_BEFORE_LAST = 27;
  private static final Pattern BEFORE_LAST = Pattern.compile("(?i)L-(\\d+)");

  // Before all that is asked for.
  private static final LocalDateTime EARLY = LocalDateTime.of(1970, 1, 1, 0, 0);

  private final String text;
  private final List<CronExpression> expressions;
  private final boolean hourly;

  private Cron(String text, List<CronExpression> expressions, boolean hourly) {
    this.text = text;
    this.expressions = expressions;
    this.hourly = hourly;
  }

  /**
   * Reads an expression.
   *
   * @throws IllegalArgumentException if it is none, or never fires; the message begins with {@code
   *     cron}
   */
  public static Cron parse(String text) {
    String stripped = text.strip();
    if (stripped.length() > MAX_LENGTH || !stripped.matches("[ -~\\t]+")) {
      throw new IllegalArgumentException(
          "cron must be 1 to " + MAX_LENGTH + " printable ASCII characters");
    }
    String[] fields = stripped.split("\\s+");
    String plain = String.join(" ", fields);
    Cron cron =
        switch (fields.length) {
          case 1 -> macro(plain);
          case 5 -> crontab(fields, plain);
          case 6 -> {
            requireDaysOfEachMonth(fields[3]);
            yield new Cron(plain, List.of(expression(plain)), fields[2].equals("*"));
          }
          default ->
              throw new IllegalArgumentException(
                  "cron must have 5 fields (minute, hour, day of month, month, day of week), or 6"
                      + " with seconds in front, but has "
                      + fields.length
                      + (fields.length == 7 ? "; a field for the year is not known" : ""));
        };
    if (cron.next(EARLY) == null) {
      throw new IllegalArgumentException(
          "cron never fires: no day is named by its days and months; check them for one that does"
              + " not exist, such as 31 February");
    }
    return cron;
  }

  private static Cron macro(String text) {
    if (!text.startsWith("@")) {
      throw new IllegalArgumentException(
          "cron must have 5 or 6 fields, or be a macro such as @daily");
    }
    if (!text.matches("(?i)@(yearly|annually|monthly|weekly|daily|midnight|hourly)")) {
      throw new IllegalArgumentException(
          "cron must be @hourly, @daily, @midnight, @weekly, @monthly, @yearly or @annually if it"
              + " is a macro; use every for a fixed distance");
    }
    return new Cron(text, List.of(expression(text)), text.equalsIgnoreCase("@hourly"));
  }

  private static Cron crontab(String[] fields, String text) {
    requireDaysOfEachMonth(fields[2]);
    boolean either = isRestricted(fields[2]) && isRestricted(fields[4]);
    // Of two, one may never fire (31 February): each search would go through years for it.
    List<CronExpression> expressions =
        either
            ? Stream.of(
                    expression(seconds(fields, fields[2], "*")),
                    expression(seconds(fields, "*", fields[4])))
                .filter(expression -> expression.next(EARLY) != null)
                .toList()
            : List.of(expression("0 " + text));
    return new Cron(text, expressions, fields[1].equals("*"));
  }

  /** In a month that has no such day, the expression would name a day of the month before. */
  private static void requireDaysOfEachMonth(String dayOfMonth) {
    Matcher before = BEFORE_LAST.matcher(dayOfMonth);
    while (before.find()) {
      String days = before.group(1);
      if (days.length() > 2 || Integer.parseInt(days) > MAX_BEFORE_LAST) {
        throw new IllegalArgumentException(
            "cron has "
                + before.group()
                + " as its day of the month: at most L-"
                + MAX_BEFORE_LAST
                + " is in each month");
      }
    }
  }

  private static String seconds(String[] fields, String dayOfMonth, String dayOfWeek) {
    return String.join(" ", "0", fields[0], fields[1], dayOfMonth, fields[3], dayOfWeek);
  }

  // As cron has it, steps from a star restrict nothing.
  private static boolean isRestricted(String day) {
    return !day.startsWith("*") && !day.equals("?");
  }

  private static CronExpression expression(String text) {
    try {
      return CronExpression.parse(text);
    } catch (IllegalArgumentException e) {
      // The last sentence repeats the whole expression, with seconds that nobody wrote.
      String reason =
          String.valueOf(e.getMessage()).replaceFirst("(?i) ?'?in cron expression.*", "");
      throw new IllegalArgumentException("cron cannot be read: " + reason, e);
    }
  }

  /** Returns the first local time behind the given one; null if there is none. */
  @Nullable LocalDateTime next(LocalDateTime after) {
    return expressions.stream()
        .map(expression -> expression.next(after))
        .flatMap(Stream::ofNullable)
        .filter(found -> found.isAfter(after))
        .min(LocalDateTime::compareTo)
        .orElse(null);
  }

  /** Returns whether it names no hour, and so means a rhythm and not times of the day. */
  public boolean isHourly() {
    return hourly;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Cron cron && cron.text.equals(text);
  }

  @Override
  public int hashCode() {
    return Objects.hash(text);
  }

  /** The expression, with single spaces. */
  @Override
  public String toString() {
    return text;
  }
}
