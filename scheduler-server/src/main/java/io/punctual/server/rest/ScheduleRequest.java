package io.punctual.server.rest;

import io.punctual.RetryPolicy;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobContent;
import io.punctual.core.schedule.Cron;
import io.punctual.core.schedule.Recurrence;
import io.punctual.core.schedule.ScheduleDefinition;
import io.punctual.schedule.Fold;
import io.punctual.schedule.Gap;
import io.punctual.schedule.Missed;
import io.punctual.schedule.WhileRunning;
import io.punctual.server.problem.ApiException;
import io.punctual.server.web.JobFields;
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
    Recurrence recurrence = recurrence();
    try {
      return new ScheduleDefinition(
          recurrence,
          Objects.requireNonNullElse(choice("missed", missed, Missed.values()), Missed.LATEST),
          missedWithin,
          Objects.requireNonNullElse(
              choice("whileRunning", whileRunning, WhileRunning.values()), WhileRunning.SKIP),
          Objects.requireNonNullElse(jitter, Duration.ZERO),
          new JobContent(
              Due.in(0),
              JobFields.params("params", params),
              JobFields.timeToRun(timeToRun),
              retry,
              Objects.requireNonNullElse(headers, Map.of()),
              tags == null ? List.of() : tags.stream().distinct().sorted().toList()));
    } catch (IllegalArgumentException e) {
      throw JobFields.named(e);
    }
  }

  /**
   * Makes the rule by which the schedule fires.
   *
   * @throws ApiException 400
   */
  private Recurrence recurrence() {
    if (cron == null) {
      onlyWithCron("gap", gap);
      onlyWithCron("fold", fold);
    } else if (anchor != null) {
      throw ApiException.invalid("anchor", "belongs to every, not to cron; use from");
    }
    try {
      Cron parsed = cron == null ? null : Cron.parse(cron);
      return new Recurrence(
          parsed,
          every,
          anchor == null ? Instant.EPOCH : anchor,
          zoneId(),
          Objects.requireNonNullElse(choice("gap", gap, Gap.values()), Gap.SHIFT),
          Objects.requireNonNullElseGet(
              choice("fold", fold, Fold.values()), () -> Recurrence.fold(parsed)),
          from,
          until,
          dates());
    } catch (IllegalArgumentException e) {
      throw JobFields.named(e);
    }
  }

  private static void onlyWithCron(String field, @Nullable String value) {
    if (value != null) {
      throw ApiException.invalid(
          field, "belongs to cron: every counts exact time, which no clock is set over");
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
