package io.punctual.server.input;

import io.punctual.RetryPolicy;
import io.punctual.core.job.JobContent;
import io.punctual.core.schedule.Recurrence;
import io.punctual.core.schedule.ScheduleDefinition;
import io.punctual.schedule.Fold;
import io.punctual.schedule.Gap;
import io.punctual.schedule.Missed;
import io.punctual.schedule.Schedule;
import io.punctual.schedule.WhileRunning;
import io.punctual.server.problem.ApiException;
import io.punctual.wire.Limits;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** A schedule to put or to preview; what is absent has its default. */
public record ScheduleRequest(
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

  private static final Pattern DATE = Pattern.compile("\\d+-\\d+-\\d+");
  private static final String EXCLUDED =
      "must be a date such as 2027-12-24, or the name of a calendar";

  private static final List<String> FORM =
      Arrays.stream(ScheduleRequest.class.getRecordComponents())
          .map(RecordComponent::getName)
          .filter(name -> !name.equals("application"))
          .toList();

  /**
   * Reads a form. A field that is empty is absent; {@code exclude} and {@code tags} are divided by
   * spaces, and each of {@code headers} has a line, {@code name: value}.
   *
   * @param form by the names of the fields; other names are left out
   * @throws ApiException 400
   */
  public static ScheduleRequest of(Map<String, String> form) {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    for (String field : FORM) {
      String text = form.getOrDefault(field, "");
      if (!text.isBlank()) {
        switch (field) {
          case "exclude", "tags" -> {
            ArrayNode list = json.putArray(field);
            Arrays.stream(text.strip().split("[\\s]+")).forEach(list::add);
          }
          case "headers" -> {
            ObjectNode headers = json.putObject(field);
            text.lines().filter(line -> !line.isBlank()).forEach(line -> put(headers, line));
          }
          // A browser sends CRLF.
          case "params" -> json.put(field, text.replace("\r\n", "\n"));
          default -> json.put(field, text.strip());
        }
      }
    }
    return RequestBinding.bind(json, ScheduleRequest.class, "");
  }

  private static void put(ObjectNode headers, String line) {
    int colon = line.indexOf(':');
    if (colon < 0) {
      throw ApiException.invalid("headers", "must be lines such as name: value");
    }
    headers.put(line.substring(0, colon).strip(), line.substring(colon + 1).strip());
  }

  /** Writes a definition as a form, which {@link #of} reads back. */
  public static Map<String, String> form(ScheduleDefinition definition) {
    Recurrence recurrence = definition.recurrence();
    JobContent job = definition.job();
    boolean cron = recurrence.cron() != null;
    Map<String, String> form = new HashMap<>();
    form.put("cron", text(recurrence.cron()));
    form.put("every", text(recurrence.every()));
    form.put("anchor", cron ? "" : text(recurrence.anchor()));
    form.put("zone", zoneName(recurrence.zone()));
    form.put("gap", cron ? word(recurrence.gap()) : "");
    form.put("fold", cron ? word(recurrence.fold()) : "");
    form.put("from", text(recurrence.from()));
    form.put("until", text(recurrence.until()));
    form.put("exclude", String.join(" ", exclude(definition)));
    form.put("missed", word(definition.missed()));
    form.put("missedWithin", text(definition.missedWithin()));
    form.put("whileRunning", word(definition.whileRunning()));
    form.put("jitter", definition.jitter().isZero() ? "" : text(definition.jitter()));
    form.put("params", job.params());
    form.put(
        "headers",
        job.headers().entrySet().stream()
            .map(header -> header.getKey() + ": " + header.getValue())
            .collect(Collectors.joining("\n")));
    form.put("tags", String.join(" ", job.tags()));
    form.put("retry", job.retry() == null ? "" : job.retry().text());
    form.put("timeToRun", text(job.timeToRun()));
    return form;
  }

  /** Returns on which dates, and on those of which calendars, a schedule does not fire. */
  public static List<String> exclude(ScheduleDefinition definition) {
    return Stream.concat(
            definition.recurrence().exclude().stream().map(LocalDate::toString),
            definition.calendars().stream())
        .toList();
  }

  private static String text(@Nullable Object value) {
    if (value == null) {
      return "";
    }
    return value instanceof Duration duration ? JobFields.text(duration) : value.toString();
  }

  /**
   * Makes the definition of the schedule.
   *
   * @throws ApiException 400
   */
  public ScheduleDefinition definition() {
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
              calendars(),
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
    return Objects.requireNonNullElse(JobFields.zone("zone", zone), ZoneOffset.UTC);
  }

  private Set<LocalDate> dates() {
    Set<LocalDate> dates = new TreeSet<>();
    List<String> given = exclude == null ? List.of() : exclude;
    for (int i = 0; i < given.size(); i++) {
      if (isDate(given.get(i))) {
        try {
          dates.add(LocalDate.parse(given.get(i)));
        } catch (DateTimeParseException e) {
          throw ApiException.invalid("exclude[" + i + "]", EXCLUDED);
        }
      } else if (!Limits.isName(given.get(i))) {
        throw ApiException.invalid("exclude[" + i + "]", EXCLUDED);
      }
    }
    return dates;
  }

  private static boolean isDate(String text) {
    return DATE.matcher(text).matches();
  }

  private Set<String> calendars() {
    return exclude == null
        ? Set.of()
        : exclude.stream()
            .filter(text -> !isDate(text))
            .collect(Collectors.toCollection(TreeSet::new));
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

  /** As the API writes a zone. */
  public static String zoneName(ZoneId zone) {
    return zone.equals(ZoneOffset.UTC) ? "UTC" : zone.getId();
  }

  /** As the API writes a choice. */
  public static String word(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}
