package io.punctual.core.schedule;

import io.punctual.core.job.CorruptContentException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The progress of a schedule. Each change of a schedule compares it with the stored state.
 *
 * @param version made up for each change of the definition
 * @param planned the occurrence that comes next, also on a date that a calendar closes: when it is
 *     due, the calendars decide as they are then. Null if there is none
 * @param pausedSince null while it is not paused
 * @param last the occurrence whose job was submitted last; null before the first
 * @param waiting an occurrence that waits for the job of the last one to end; null for none
 * @param fired how many jobs were submitted as planned
 * @param skipped how many occurrences did not run because of the one before
 * @param missed how many occurrences did not run because no scheduler could submit them in time; of
 *     a cron expression, at most 1,000 of each outage are counted
 */
public record ScheduleState(
    String version,
    @Nullable Instant planned,
    @Nullable Instant pausedSince,
    @Nullable Instant last,
    @Nullable Instant waiting,
    long fired,
    long skipped,
    long missed) {

  private static final int VALUES = 8;

  /** A schedule that has not fired yet. */
  public static ScheduleState begin(String version, @Nullable Instant planned) {
    return new ScheduleState(version, planned, null, null, null, 0, 0, 0);
  }

  /** The same, of a definition that was changed. */
  public ScheduleState redefined(String newVersion, @Nullable Instant next) {
    return new ScheduleState(newVersion, next, pausedSince, last, waiting, fired, skipped, missed);
  }

  /** The same, paused. What waits does not run any more. */
  public ScheduleState paused(Instant since) {
    return new ScheduleState(version, planned, since, last, null, fired, skipped, missed);
  }

  /** The same, not paused. */
  public ScheduleState resumed(@Nullable Instant next) {
    return new ScheduleState(version, next, null, last, null, fired, skipped, missed);
  }

  /** As it is stored. */
  public String text() {
    return String.join(
        " ",
        version,
        millis(planned),
        millis(pausedSince),
        millis(last),
        millis(waiting),
        Long.toString(fired),
        Long.toString(skipped),
        Long.toString(missed));
  }

  /**
   * Reads {@link #text} back.
   *
   * @throws CorruptContentException if it is none
   */
  public static ScheduleState parse(String text) {
    String[] values = text.split(" ", -1);
    try {
      if (values.length == VALUES) {
        return new ScheduleState(
            values[0],
            instant(values[1]),
            instant(values[2]),
            instant(values[3]),
            instant(values[4]),
            Long.parseLong(values[5]),
            Long.parseLong(values[6]),
            Long.parseLong(values[7]));
      }
    } catch (NumberFormatException e) {
      throw new CorruptContentException("it is no state of a schedule", e);
    }
    throw new CorruptContentException("it is no state of a schedule");
  }

  private static String millis(@Nullable Instant instant) {
    return instant == null ? "-" : Long.toString(instant.toEpochMilli());
  }

  private static @Nullable Instant instant(String millis) {
    return millis.equals("-") ? null : Instant.ofEpochMilli(Long.parseLong(millis));
  }
}
