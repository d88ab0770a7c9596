package io.punctual.schedule;

import io.punctual.wire.Durations;
import io.punctual.wire.Limits;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * The limits on when a job may start, besides its due time. Immutable. Most jobs have no limits:
 * {@link #NONE}.
 *
 * @param notAfter the latest time at which an attempt may start, to the millisecond: a job that
 *     could not start by then becomes a dead letter. An attempt that runs at that time continues.
 *     Null for none
 * @param expiresIn the same, counted from the moment at which the scheduler accepted the job; null
 *     for none
 * @param within spreads the start over that long after the due time; 1 ms to 30 days. The offset
 *     follows from the job's id. Null for no spread
 * @param window times of the week at which an attempt may start; null for any
 * @param windowZone the time zone of window and calendar; null for UTC
 * @param calendar the name of a list of dates on which no attempt starts; null for none
 */
public record TimeRules(
    @Nullable Instant notAfter,
    @Nullable Duration expiresIn,
    @Nullable Duration within,
    @Nullable Windows window,
    @Nullable ZoneId windowZone,
    @Nullable String calendar) {

  /** A job with these may start whenever it is due. */
  public static final TimeRules NONE = new TimeRules(null, null, null);

  static final Duration MIN = Duration.ofMillis(1);
  static final Duration MAX_WITHIN = Duration.ofDays(30);
  static final Duration MAX_EXPIRES_IN = Duration.ofDays(2_900_000);

  /** Without a window. */
  public TimeRules(
      @Nullable Instant notAfter, @Nullable Duration expiresIn, @Nullable Duration within) {
    this(notAfter, expiresIn, within, null, null, null);
  }

  /**
   * Checks all values.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public TimeRules {
    if (notAfter != null && expiresIn != null) {
      throw new IllegalArgumentException("expiresIn: give one of notAfter and expiresIn, not both");
    }
    if (notAfter != null) {
      if (notAfter.isBefore(Instant.EPOCH) || notAfter.isAfter(Limits.MAX_DUE)) {
        throw new IllegalArgumentException(
            "notAfter must be between " + Instant.EPOCH + " and " + Limits.MAX_DUE);
      }
      notAfter = notAfter.truncatedTo(ChronoUnit.MILLIS);
    }
    require("expiresIn", expiresIn, MAX_EXPIRES_IN);
    require("within", within, MAX_WITHIN);
    if (windowZone != null && window == null && calendar == null) {
      throw new IllegalArgumentException("windowZone needs a window or a calendar beside it");
    }
    if (calendar != null) {
      var unused = Limits.requireName("calendar", calendar);
    }
  }

  /** Whether an attempt may start at certain times only. */
  public boolean hasHours() {
    return window != null || calendar != null;
  }

  private static void require(String field, @Nullable Duration value, Duration max) {
    if (value != null && (value.compareTo(MIN) < 0 || value.compareTo(max) > 0)) {
      throw new IllegalArgumentException(
          field
              + " must be between "
              + Durations.format(MIN)
              + " and "
              + Durations.format(max)
              + ", but was "
              + value);
    }
  }

  /**
   * Checks that a job with that due time may start at all.
   *
   * @param delayTime epoch ms; null if {@code delay} is given
   * @throws IllegalArgumentException naming the field that is wrong
   */
  public void requireStart(@Nullable Long delayTime, @Nullable Duration delay) {
    if (notAfter != null && delayTime != null && notAfter.toEpochMilli() <= delayTime) {
      throw new IllegalArgumentException(
          "notAfter must be after the due time, "
              + Instant.ofEpochMilli(delayTime)
              + ", but was "
              + notAfter);
    }
    if (expiresIn != null && delay != null && expiresIn.compareTo(delay) <= 0) {
      throw new IllegalArgumentException(
          "expiresIn must be longer than the delay, "
              + delay
              + ", but was "
              + expiresIn
              + ": both count from the moment at which the job is accepted");
    }
  }

  /** Whether the job may start whenever it is due. */
  public boolean isNone() {
    return equals(NONE);
  }
}
