package io.punctual.schedule;

import java.time.DateTimeException;
import java.time.DayOfWeek;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Times of the week at which jobs may start, such as {@code Mon-Fri 09:00-20:00; Sat 10:00-14:00}.
 *
 * @param parts at least one
 */
public record Windows(List<Window> parts) {

  private static final int MOST = 20;
  private static final Pattern PART =
      Pattern.compile("(?:([A-Za-z,-]+)\\s+)?(\\d\\d:\\d\\d)-(\\d\\d:\\d\\d)");
  private static final String FORM =
      "write for instance Mon-Fri 09:00-20:00, with a semicolon between several";

  /** Checks the number. */
  public Windows {
    if (parts.isEmpty() || parts.size() > MOST) {
      throw new IllegalArgumentException("window must have 1 to " + MOST + " parts");
    }
    parts = List.copyOf(parts);
  }

  /**
   * From one time of a day to another one.
   *
   * @param days on which it begins
   * @param to exclusive; if it is not after {@code from}, on the next day. Midnight is the end of
   *     the day
   */
  public record Window(Set<DayOfWeek> days, LocalTime from, LocalTime to) {

    /** Checks that there is a day and a minute. */
    public Window {
      if (days.isEmpty()) {
        throw new IllegalArgumentException("window has no day; " + FORM);
      }
      if (from.equals(to) && !from.equals(LocalTime.MIDNIGHT)) {
        throw new IllegalArgumentException(
            "window " + from + "-" + to + " has no minute: its end must differ from its start");
      }
      days = Collections.unmodifiableSet(EnumSet.copyOf(days));
    }

    /** Whether it ends on the day after it began. */
    public boolean endsNextDay() {
      return !to.isAfter(from);
    }

    @Override
    public String toString() {
      String end = to.equals(LocalTime.MIDNIGHT) ? "24:00" : to.toString();
      String time = from + "-" + end;
      return days.size() == 7 ? time : daysText() + " " + time;
    }

    private String daysText() {
      List<String> texts = new ArrayList<>();
      DayOfWeek[] all = DayOfWeek.values();
      for (int i = 0; i < all.length; i++) {
        int first = i;
        while (i < all.length && days.contains(all[i])) {
          i++;
        }
        if (i - first > 2) {
          texts.add(name(all[first]) + "-" + name(all[i - 1]));
        } else {
          for (int day = first; day < i; day++) {
            texts.add(name(all[day]));
          }
        }
      }
      return String.join(",", texts);
    }
  }

  private static String name(DayOfWeek day) {
    return day.name().charAt(0) + day.name().substring(1, 3).toLowerCase(Locale.ROOT);
  }

  /**
   * Reads windows.
   *
   * @param text days and times such as {@code Mon-Fri 09:00-20:00}, {@code Sat,Sun 22:00-02:00} or
   *     {@code 08:00-24:00}, which is every day; separate several with semicolons
   * @throws IllegalArgumentException for other texts
   */
  public static Windows parse(String text) {
    List<Window> parts = new ArrayList<>();
    for (String part : text.split(";", -1)) {
      parts.add(part(part.strip()));
    }
    return new Windows(parts);
  }

  private static Window part(String text) {
    Matcher matcher = PART.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("window '" + text + "' is none; " + FORM);
    }
    try {
      LocalTime to =
          matcher.group(3).equals("24:00") ? LocalTime.MIDNIGHT : LocalTime.parse(matcher.group(3));
      return new Window(days(matcher.group(1)), LocalTime.parse(matcher.group(2)), to);
    } catch (DateTimeException e) {
      throw new IllegalArgumentException(
          "window '" + text + "' has a time that no clock shows; " + FORM, e);
    }
  }

  private static Set<DayOfWeek> days(@org.jspecify.annotations.Nullable String text) {
    if (text == null) {
      return EnumSet.allOf(DayOfWeek.class);
    }
    EnumSet<DayOfWeek> days = EnumSet.noneOf(DayOfWeek.class);
    for (String part : text.split(",", -1)) {
      String[] ends = part.split("-", -1);
      if (ends.length > 2) {
        throw new IllegalArgumentException("window has days '" + part + "'; " + FORM);
      }
      DayOfWeek day = day(ends[0]);
      DayOfWeek last = day(ends[ends.length - 1]);
      days.add(day);
      while (day != last) {
        day = day.plus(1);
        days.add(day);
      }
    }
    return days;
  }

  private static DayOfWeek day(String text) {
    for (DayOfWeek day : DayOfWeek.values()) {
      if (name(day).equalsIgnoreCase(text)) {
        return day;
      }
    }
    throw new IllegalArgumentException(
        "window has a day '" + text + "', which is none of Mon, Tue, Wed, Thu, Fri, Sat, Sun");
  }

  @Override
  public String toString() {
    return parts.stream().map(Window::toString).collect(Collectors.joining("; "));
  }
}
