package io.punctual.core.times;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.schedule.Windows;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OpenHoursTest {

  private static @Nullable String at(
      @Nullable String windows, String zone, Set<LocalDate> closed, String moment) {
    OpenHours hours =
        new OpenHours(
            windows == null ? null : Windows.parse(windows), ZoneId.of(zone), closed::contains);
    OpenHours.Opening opening = hours.at(Instant.parse(moment));
    return opening == null ? null : opening.from() + " " + opening.to();
  }

  @ParameterizedTest
  @CsvSource({
    // 2026-11-27 is a Friday.
    "Mon-Fri 09:00-20:00, 2026-11-27T08:59:59.999Z, 2026-11-27T09:00:00Z, 2026-11-27T20:00:00Z",
    "Mon-Fri 09:00-20:00, 2026-11-27T09:00:00Z, 2026-11-27T09:00:00Z, 2026-11-27T20:00:00Z",
    "Mon-Fri 09:00-20:00, 2026-11-27T20:00:00Z, 2026-11-30T09:00:00Z, 2026-11-30T20:00:00Z",
    "Sat 10:00-14:00;Mon-Fri 09:00-20:00, 2026-11-27T20:00:00Z, 2026-11-28T10:00:00Z, 2026-11-28T14:00:00Z",
    // Over midnight, and begun the day before.
    "Fri 22:00-02:00, 2026-11-28T01:59:59Z, 2026-11-27T22:00:00Z, 2026-11-28T02:00:00Z",
    "Fri 22:00-02:00, 2026-11-28T02:00:00Z, 2026-12-04T22:00:00Z, 2026-12-05T02:00:00Z",
    "20:00-24:00, 2026-11-27T23:59:59Z, 2026-11-27T20:00:00Z, 2026-11-28T00:00:00Z",
    "00:00-24:00, 2026-11-27T12:00:00Z, 2026-11-27T00:00:00Z, 2026-11-28T00:00:00Z"
  })
  void aMomentIsInAWindowOrBeforeTheNext(String windows, String moment, String from, String to) {
    assertThat(at(windows, "UTC", Set.of(), moment)).isEqualTo(from + " " + to);
  }

  @ParameterizedTest
  @CsvSource({
    // In Berlin 02:00 becomes 03:00 on 2027-03-28, at 01:00 UTC.
    "01:30-02:30, 2027-03-28T00:00:00Z, 2027-03-28T00:30:00Z, 2027-03-28T01:00:00Z",
    "02:30-04:00, 2027-03-28T00:00:00Z, 2027-03-28T01:00:00Z, 2027-03-28T02:00:00Z",
    // The whole window is missing: the next day's.
    "02:10-02:50, 2027-03-28T00:00:00Z, 2027-03-29T00:10:00Z, 2027-03-29T00:50:00Z",
    "09:00-17:00, 2027-03-28T00:00:00Z, 2027-03-28T07:00:00Z, 2027-03-28T15:00:00Z",
    // 03:00 becomes 02:00 on 2027-10-31, at 01:00 UTC.
    "02:10-02:50, 2027-10-31T00:00:00Z, 2027-10-31T00:10:00Z, 2027-10-31T01:50:00Z",
    "02:30-04:00, 2027-10-31T00:00:00Z, 2027-10-31T00:30:00Z, 2027-10-31T03:00:00Z",
    "01:00-02:30, 2027-10-31T00:00:00Z, 2027-10-30T23:00:00Z, 2027-10-31T01:30:00Z"
  })
  void clocksThatAreSetMoveABeginOrEndOrDoubleIt(
      String windows, String moment, String from, String to) {
    assertThat(at(windows, "Europe/Berlin", Set.of(), moment)).isEqualTo(from + " " + to);
  }

  @Test
  void noWindowBeginsOnADayOfTheCalendar() {
    Set<LocalDate> closed = Set.of(LocalDate.parse("2026-12-25"), LocalDate.parse("2026-12-26"));
    assertThat(at("09:00-20:00", "Europe/Berlin", closed, "2026-12-24T19:00:00Z"))
        .isEqualTo("2026-12-27T08:00:00Z 2026-12-27T19:00:00Z");
    // One that has begun before goes on.
    assertThat(at("22:00-02:00", "Europe/Berlin", closed, "2026-12-25T00:30:00Z"))
        .isEqualTo("2026-12-24T21:00:00Z 2026-12-25T01:00:00Z");
    assertThat(at(null, "UTC", closed, "2026-12-25T00:00:00Z"))
        .isEqualTo("2026-12-27T00:00:00Z 2026-12-28T00:00:00Z");
  }

  @Test
  void aDayThatAZoneLeftOutHasNoWindow() {
    // Samoa had no 30 December 2011.
    assertThat(at("09:00-10:00", "Pacific/Apia", Set.of(), "2011-12-29T20:00:00Z"))
        .isEqualTo("2011-12-30T19:00:00Z 2011-12-30T20:00:00Z");
  }

  @Test
  void hoursThatNeverComeAreNone() {
    OpenHours never = new OpenHours(null, ZoneId.of("UTC"), day -> true);
    assertThat(never.at(Instant.parse("2026-12-25T00:00:00Z"))).isNull();
  }
}
