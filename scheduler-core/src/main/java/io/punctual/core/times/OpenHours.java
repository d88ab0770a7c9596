package io.punctual.core.times;

import io.punctual.schedule.Windows;
import io.punctual.schedule.Windows.Window;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneRules;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * When jobs may start in a zone: within windows, and not on certain days. Where the clocks are set
 * forward over its begin or end, a window begins or ends at that moment; where they are set back,
 * it begins at the first of both and ends at the last.
 *
 * @param windows null for whole days
 * @param closed the days on which no window begins
 */
record OpenHours(@Nullable Windows windows, ZoneId zone, Predicate<LocalDate> closed) {

  private static final Windows DAYS = Windows.parse("00:00-24:00");

  /** A calendar may close every day for that long. */
  private static final int DAYS_AHEAD = 2_000;

  /**
   * From when until when jobs may start.
   *
   * @param to exclusive
   */
  record Opening(Instant from, Instant to) {}

  /** Returns the opening at that moment, else the next one; null if there is none for years. */
  @Nullable Opening at(Instant moment) {
    LocalDate day = LocalDate.ofInstant(moment, zone).minusDays(1);
    for (int i = 0; i < DAYS_AHEAD; i++) {
      Opening first = closed.test(day) ? null : first(day, moment);
      // A window of the day before may begin later in the day than one of this day.
      if (first != null) {
        return first;
      }
      day = day.plusDays(1);
    }
    return null;
  }

  private @Nullable Opening first(LocalDate day, Instant moment) {
    Opening first = null;
    List<Window> parts = (windows == null ? DAYS : windows).parts();
    for (Window window : parts) {
      if (window.days().contains(day.getDayOfWeek())) {
        Opening opening = opening(window, day);
        if (opening.to().isAfter(moment)
            && opening.from().isBefore(opening.to())
            && (first == null || opening.from().isBefore(first.from()))) {
          first = opening;
        }
      }
    }
    return first;
  }

  private Opening opening(Window window, LocalDate day) {
    LocalDate lastDay = window.endsNextDay() ? day.plusDays(1) : day;
    return new Opening(
        instant(day.atTime(window.from()), 0), instant(lastDay.atTime(window.to()), 1));
  }

  private Instant instant(LocalDateTime local, int which) {
    ZoneRules rules = zone.getRules();
    List<ZoneOffset> offsets = rules.getValidOffsets(local);
    return offsets.isEmpty()
        ? rules.getTransition(local).getInstant()
        : local.toInstant(offsets.get(Math.min(which, offsets.size() - 1)));
  }
}
