package io.punctual.core.times;

import io.punctual.core.job.CorruptContentException;
import io.punctual.schedule.TimeRules;
import io.punctual.schedule.Windows;
import java.time.DateTimeException;
import java.time.ZoneId;
import org.jspecify.annotations.Nullable;

/**
 * The hours of a queue as the store keeps them: window, zone and calendar, one line each. A line is
 * empty if its value is not given.
 */
public final class Hours {

  private Hours() {}

  /** Returns the text of the hours in the rules; empty if they have none. */
  public static String text(TimeRules rules) {
    return rules.hasHours()
        ? orEmpty(rules.window())
            + "\n"
            + (rules.windowZone() == null ? "" : rules.windowZone().getId())
            + "\n"
            + orEmpty(rules.calendar())
        : "";
  }

  private static String orEmpty(@Nullable Object value) {
    return value == null ? "" : value.toString();
  }

  /**
   * Reads a text.
   *
   * @throws CorruptContentException if it cannot be read here: another program wrote it, or a
   *     scheduler of another version, or one whose JDK knows more time zones
   */
  public static TimeRules read(String text) {
    if (text.isEmpty()) {
      return TimeRules.NONE;
    }
    String[] lines = text.split("\n", -1);
    try {
      if (lines.length != 3) {
        throw new IllegalArgumentException("three lines were expected");
      }
      return new TimeRules(
          null,
          null,
          null,
          lines[0].isEmpty() ? null : Windows.parse(lines[0]),
          lines[1].isEmpty() ? null : ZoneId.of(lines[1]),
          lines[2].isEmpty() ? null : lines[2]);
    } catch (IllegalArgumentException | DateTimeException e) {
      throw new CorruptContentException(
          "hours '"
              + text.replace('\n', ' ').strip()
              + "' cannot be read by this scheduler ("
              + e.getMessage()
              + "): set the queue's hours again, or update the scheduler and its JDK",
          e);
    }
  }
}
