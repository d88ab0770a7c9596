package io.punctual.server.input;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.LocalDate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ICalendarTest {

  private static String calendar(String events) {
    return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n" + events + "END:VCALENDAR\r\n";
  }

  private static String event(String lines) {
    return calendar("BEGIN:VEVENT\r\n" + lines.replace("/", "\r\n") + "\r\nEND:VEVENT\r\n");
  }

  @Test
  void wholeDaysAreRead() {
    String text =
        calendar(
            "BEGIN:VTIMEZONE\nTZID:x\nDTSTART:19700101T000000\nEND:VTIMEZONE\n"
                + "BEGIN:VEVENT\nUID:1\nSUMMARY:Christmas\\, the fir\n st day\n"
                + "DTSTART;VALUE=DATE:20261225\nDTEND;VALUE=DATE:20261227\nEND:VEVENT\n"
                + "BEGIN:VEVENT\nDTSTART:20270101\nEND:VEVENT\n");
    assertThat(ICalendar.dates(text))
        .containsExactly(
            LocalDate.parse("2026-12-25"),
            LocalDate.parse("2026-12-26"),
            LocalDate.parse("2027-01-01"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "DTSTART:20261225T090000Z | not a date such as",
        "SUMMARY:x | without DTSTART",
        "DTSTART:20261225/RRULE:FREQ=YEARLY | with RRULE",
        "DTSTART:20261225/DTEND:20261225 | 1 to 400 days",
        "DTSTART:20261225/what | none of iCalendar"
      })
  void whatIsNoListOfDatesIsRefused(String lines, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ICalendar.dates(event(lines)))
        .withMessageContaining(message);
  }

  @Test
  void moreDatesThanACalendarMayHaveAreRefusedWhileTheyAreRead() {
    String year = "BEGIN:VEVENT\nDTSTART:%d0101\nDTEND:%d0101\nEND:VEVENT\n";
    StringBuilder events = new StringBuilder();
    for (int i = 2030; i < 2040; i++) {
      events.append(year.formatted(i, i + 1));
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ICalendar.dates(calendar(events.toString())))
        .withMessageContaining("has more than 2000 dates");
  }

  @Test
  void whatIsNoCalendarIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ICalendar.dates("{}"))
        .withMessageContaining("BEGIN:VCALENDAR");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ICalendar.dates("BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20261225"))
        .withMessageContaining("END:VEVENT");
  }
}
