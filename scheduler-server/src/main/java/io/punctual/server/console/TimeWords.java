package io.punctual.server.console;

import io.punctual.DelayQueueJob;
import io.punctual.core.job.Due;
import io.punctual.server.input.JobFields;
import io.punctual.server.problem.ApiException;
import io.punctual.wire.Limits;
import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.time.temporal.TemporalAccessor;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.web.util.WebUtils;

/**
 * Reads times as people type them, in the viewer's zone, and writes them in the same form: {@code
 * now}, {@code -1h}, {@code +30m}, {@code 14:00}, {@code yesterday}, {@code tomorrow 9:00}, {@code
 * 2026-11-28}, {@code 2026-11-28T14:00}, and times with an offset.
 *
 * <p>Days are those of the zone's calendar. A local time that the clocks skip is moved on by as
 * much as they skip; of one that comes twice, the first is meant. So does {@link ZonedDateTime}.
 *
 * @param now what the words count from, in the viewer's zone
 */
record TimeWords(ZonedDateTime now) {

  /** In which the console's script keeps the viewer's zone. */
  static final String COOKIE = "punctual-zone";

  private static final String TIMES =
      "-1h, 14:00, yesterday, 2026-11-28, \"2026-11-28 14:00\" or 2030-01-31T12:00:00Z";
  private static final String DUE_TIMES =
      "+30m, 14:00, tomorrow 9:00, 2026-11-28 9:00, now or 2030-01-31T12:00:00Z";
  private static final Pattern LOCAL =
      Pattern.compile(
          "(?:(today|yesterday|tomorrow|\\d{4}-\\d{2}-\\d{2})(?:T| +|$))?"
              + "(\\d{1,2}:\\d{2}(?::\\d{2}(?:\\.\\d{3})?)?)?",
          Pattern.CASE_INSENSITIVE);
  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("H:mm[:ss[.SSS]]");

  /**
   * What a text names: a moment, or a day.
   *
   * @param first epoch ms
   * @param last epoch ms; of a day, its last
   */
  private record Named(long first, long last) {}

  /**
   * A span of time as it is shown.
   *
   * @param from null if it has no begin
   * @param until null if it has no end
   * @param zone such as {@code UTC+8}
   */
  record Span(@Nullable String from, @Nullable String until, String zone) {}

  /** Counts from now, in the zone that the viewer's browser told; in UTC if it told none. */
  static TimeWords of(HttpServletRequest request) {
    Cookie cookie = WebUtils.getCookie(request, COOKIE);
    return new TimeWords(
        Instant.now()
            .truncatedTo(ChronoUnit.MILLIS)
            .atZone(zone(cookie == null ? "" : cookie.getValue())));
  }

  /**
   * Counts from what the page before counted from.
   *
   * @param now as {@link #now} was written
   * @throws ApiException 400
   */
  static TimeWords at(String now) {
    try {
      return new TimeWords(ZonedDateTime.parse(now));
    } catch (DateTimeException e) {
      throw ApiException.invalid("at", "must be a time with its zone, as pages write it");
    }
  }

  private static ZoneId zone(String name) {
    try {
      return name.isEmpty() ? ZoneOffset.UTC : ZoneId.of(name);
    } catch (DateTimeException e) {
      return ZoneOffset.UTC;
    }
  }

  /**
   * The first millisecond that a text names.
   *
   * @param field what an error names
   * @throws ApiException 400 if it is no time
   */
  long from(String field, String text) {
    return read(field, text, TIMES).first();
  }

  /** As {@link #from}, the last one: of a day, its end. */
  long until(String field, String text) {
    return read(field, text, TIMES).last();
  }

  /**
   * A due time: a delay such as {@code 30m} or {@code +30m}, or a time that is not over.
   *
   * @throws ApiException 400 if it is neither, or a day without a time of day
   */
  Due due(String field, String text) {
    String typed = text.strip();
    try {
      return JobFields.due(
          null,
          DelayQueueJob.parseDuration(typed.startsWith("+") ? typed.substring(1) : typed),
          null);
    } catch (IllegalArgumentException e) {
      // No delay.
    }
    Named named = read(field, typed, DUE_TIMES);
    if (named.first() != named.last()) {
      throw ApiException.invalid(field, "must name a time of day, too, such as " + DUE_TIMES);
    } else if (named.first() < now.toInstant().toEpochMilli()) {
      throw ApiException.invalid(
          field, "must not be in the past; write now to make it due at once");
    }
    return typed.equalsIgnoreCase("now") ? Due.in(0) : Due.at(named.first());
  }

  private Named read(String field, String text, String examples) {
    String typed = text.strip();
    try {
      Matcher local = LOCAL.matcher(typed);
      if (typed.equalsIgnoreCase("now")) {
        return moment(now.toInstant());
      } else if (typed.startsWith("-") || typed.startsWith("+")) {
        Duration away = DelayQueueJob.parseDuration(typed.substring(1));
        if (away.isNegative()) {
          throw new IllegalArgumentException("two signs");
        }
        return moment(now.toInstant().plus(typed.startsWith("-") ? away.negated() : away));
      } else if (typed.isEmpty() || !local.matches()) {
        return moment(OffsetDateTime.parse(typed).toInstant());
      }
      LocalDate day = day(local.group(1));
      if (local.group(2) != null) {
        TemporalAccessor time = TIME.parse(local.group(2));
        // 24:00 is the begin of the next day.
        return moment(
            day.plus(time.query(DateTimeFormatter.parsedExcessDays()))
                .atTime(LocalTime.from(time))
                .atZone(now.getZone())
                .toInstant());
      }
      return new Named(
          moment(day.atStartOfDay(now.getZone()).toInstant()).first(),
          moment(day.plusDays(1).atStartOfDay(now.getZone()).toInstant().minusMillis(1)).last());
    } catch (DateTimeException | ArithmeticException | IllegalArgumentException e) {
      throw ApiException.invalid(field, "must be a time from 1970 to 9999, such as " + examples);
    }
  }

  private LocalDate day(@Nullable String name) {
    LocalDate today = now.toLocalDate();
    return switch (name == null ? "today" : name.toLowerCase(Locale.ROOT)) {
      case "today" -> today;
      case "yesterday" -> today.minusDays(1);
      case "tomorrow" -> today.plusDays(1);
      case String date -> LocalDate.parse(date);
    };
  }

  private static Named moment(Instant at) {
    if (at.isBefore(Instant.EPOCH) || at.isAfter(Limits.MAX_DUE)) {
      throw new DateTimeException("out of range");
    }
    return new Named(at.toEpochMilli(), at.toEpochMilli());
  }

  /** The span of a search, to be shown beneath it; null if it has neither begin nor end. */
  @Nullable Span span(@Nullable Long from, @Nullable Long until) {
    if (from == null && until == null) {
      return null;
    }
    String first = from == null ? null : shown(from);
    String last = until == null ? null : shownEnd(until);
    String zone = zoneAt(until == null ? from : until);
    boolean moved = from != null && !zoneAt(from).equals(zone);
    return new Span(first, last, moved ? now.getZone().getId() : zone);
  }

  /** A moment with its zone. */
  String told(long millis) {
    return shown(millis) + " " + zoneAt(millis);
  }

  // Without the date if that is today's, and without seconds and milliseconds that are zero.
  private String shown(long millis) {
    ZonedDateTime at = at(millis);
    return date(at) + at.toLocalTime();
  }

  private String shownEnd(long millis) {
    ZonedDateTime end = at(millis + 1);
    boolean whole = end.equals(end.toLocalDate().atStartOfDay(end.getZone()));
    return whole ? date(at(millis)) + "24:00" : shown(millis);
  }

  private String date(ZonedDateTime at) {
    return at.toLocalDate().equals(now.toLocalDate()) ? "" : at.toLocalDate() + " ";
  }

  private ZonedDateTime at(long millis) {
    return Instant.ofEpochMilli(millis).atZone(now.getZone());
  }

  /** The offset of now, such as {@code UTC+8}. */
  String zone() {
    return zoneAt(now.toInstant().toEpochMilli());
  }

  private String zoneAt(@Nullable Long millis) {
    int minutes = at(millis == null ? 0 : millis).getOffset().getTotalSeconds() / 60;
    int over = Math.abs(minutes % 60);
    return "UTC"
        + (minutes == 0 ? "" : (minutes < 0 ? "-" : "+") + Math.abs(minutes) / 60)
        + (over == 0 ? "" : ":%02d".formatted(over));
  }
}
