package io.punctual.server.rest;

import io.punctual.RetryPolicy;
import io.punctual.core.schedule.ScheduleDefinition;
import io.punctual.schedule.Fold;
import io.punctual.schedule.Gap;
import io.punctual.schedule.Missed;
import io.punctual.schedule.Schedule;
import io.punctual.schedule.WhileRunning;
import io.punctual.server.input.JobFields;
import io.punctual.server.problem.ApiException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A schedule to put or to preview; what is absent has its default. */
record ScheduleRequest(
    @Nullable String application,
    @Nullable String cron,
    @Nullable Duration every,
    @Nullable Instant anchor,
    @Nullable String zone,
    @Nullable String gap,
    @Nullable String fold,
    @Nullable Instant from,
    @Nullable Instant until,
    @Nullable List<String> exclude,
    @Nullable String missed,
    @Nullable Duration missedWithin,
    @Nullable String whileRunning,
    @Nullable Duration jitter,
    @Nullable String params,
    @Nullable Map<String, String> headers,
    @Nullable List<String> tags,
    @Nullable RetryPolicy retry,
    @Nullable Duration timeToRun) {

  /**
   * Makes the definition of the schedule.
   *
   * @throws ApiException 400
   */
  ScheduleDefinition definition() {
    try {
      return ScheduleDefinition.of(
          new Schedule(
              "any",
              "any",
              cron,
              every,
              anchor,
              zoneId(),
              choice("gap", gap, Gap.values()),
              choice("fold", fold, Fold.values()),
              from,
              until,
              dates(),
              choice("missed", missed, Missed.values()),
              missedWithin,
              choice("whileRunning", whileRunning, WhileRunning.values()),
              jitter,
              JobFields.params("params", params),
              JobFields.timeToRun(timeToRun),
              retry == null ? null : retry.text(),
              Objects.requireNonNullElse(headers, Map.of()),
              Objects.requireNonNullElse(tags, List.of())));
    } catch (IllegalArgumentException e) {
      throw JobFields.named(e);
    }
  }

  private ZoneId zoneId() {
    if (zone == null || zone.equals("UTC")) {
      return ZoneOffset.UTC;
    }
    if (!ZoneId.getAvailableZoneIds().contains(zone)) {
      throw ApiException.invalid(
          "zone", "must be a name of the IANA time zone database, such as Europe/Berlin, or UTC");
    }
    return ZoneId.of(zone);
  }

  private Set<LocalDate> dates() {
    Set<LocalDate> dates = new TreeSet<>();
    List<String> given = exclude == null ? List.of() : exclude;
    for (int i = 0; i < given.size(); i++) {
      try {
        dates.add(LocalDate.parse(given.get(i)));
      } catch (DateTimeParseException e) {
        throw ApiException.invalid("exclude[" + i + "]", "must be a date such as 2027-12-24");
      }
    }
    return dates;
  }

  private static <E extends Enum<E>> @Nullable E choice(
      String field, @Nullable String text, E[] values) {
    if (text == null) {
      return null;
    }
    return Arrays.stream(values)
        .filter(value -> word(value).equals(text))
        .findFirst()
        .orElseThrow(
            () ->
                ApiException.invalid(
                    field,
                    "must be one of "
                        + Arrays.stream(values)
                            .map(ScheduleRequest::word)
                            .collect(Collectors.joining(", "))));
  }

  static String zoneName(ZoneId zone) {
    return zone.equals(ZoneOffset.UTC) ? "UTC" : zone.getId();
  }

  static String word(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}
