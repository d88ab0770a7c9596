package io.punctual.server.input;

import io.punctual.core.calendar.Calendars;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads the all-day events of an iCalendar (RFC 5545): the {@code VEVENT}s with a date, until the
 * day before {@code DTEND} if there is one. Rejects events with a time of day and repeated events,
 * which a list of dates cannot express.
 */
public final class ICalendar {

  private static final Pattern LINE = Pattern.compile("([A-Za-z0-9-]+)(;[^:]*)?:(.*)");
  private static final int MOST_DAYS = 400;

  private final NavigableSet<LocalDate> dates = new TreeSet<>();
  private @Nullable LocalDate start;
  private @Nullable LocalDate end;
  private boolean event;

  private ICalendar() {}

  /**
   * Returns the dates.
   *
   * @throws IllegalArgumentException saying which line is wrong
   */
  public static NavigableSet<LocalDate> dates(String text) {
    ICalendar calendar = new ICalendar();
    // A line that is too long goes on behind a space.
    String[] lines = text.replaceAll("\r?\n[ \t]", "").split("\r?\n", -1);
    if (!lines[0].strip().equalsIgnoreCase("BEGIN:VCALENDAR")) {
      throw new IllegalArgumentException("must begin with the line BEGIN:VCALENDAR");
    }
    for (String line : lines) {
      if (!line.isBlank()) {
        calendar.line(line.strip());
      }
    }
    if (calendar.event) {
      throw new IllegalArgumentException("ends within a VEVENT: END:VEVENT is missing");
    }
    return calendar.dates;
  }

  private void line(String line) {
    Matcher parts = LINE.matcher(line);
    if (!parts.matches()) {
      throw new IllegalArgumentException("has a line that is none of iCalendar: '" + line + "'");
    }
    String name = parts.group(1).toUpperCase(Locale.ROOT);
    String value = parts.group(3);
    if (name.equals("BEGIN") && value.equalsIgnoreCase("VEVENT")) {
      event = true;
      start = null;
      end = null;
    } else if (name.equals("END") && value.equalsIgnoreCase("VEVENT")) {
      add();
      event = false;
    } else if (event) {
      switch (name) {
        case "DTSTART" -> start = date(line, value);
        case "DTEND" -> end = date(line, value);
        case "RRULE", "RDATE", "DURATION" ->
            throw new IllegalArgumentException(
                "has an event with " + name + ", which is not supported: list each date");
        default -> {
          // Of no interest.
        }
      }
    }
  }

  private static LocalDate date(String line, String value) {
    try {
      return LocalDate.parse(value, DateTimeFormatter.BASIC_ISO_DATE);
    } catch (DateTimeParseException e) {
      throw new IllegalArgumentException(
          "has the line '" + line + "', which is not a date such as DTSTART;VALUE=DATE:20271224",
          e);
    }
  }

  private void add() {
    LocalDate first = start;
    if (first == null) {
      throw new IllegalArgumentException("has an event without DTSTART");
    }
    LocalDate until = end == null ? first.plusDays(1) : end;
    if (!until.isAfter(first) || until.isAfter(first.plusDays(MOST_DAYS))) {
      throw new IllegalArgumentException(
          "has an event from " + first + " until " + until + ": it must be 1 to 400 days long");
    }
    first.datesUntil(until).forEach(dates::add);
    if (dates.size() > Calendars.MAX_DATES) {
      throw new IllegalArgumentException(
          "has more than " + Calendars.MAX_DATES + " dates, the most that a calendar may have");
    }
  }
}
