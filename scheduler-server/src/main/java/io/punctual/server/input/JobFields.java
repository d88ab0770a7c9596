package io.punctual.server.input;

import io.punctual.core.job.Due;
import io.punctual.core.job.Pause;
import io.punctual.schedule.TimeRules;
import io.punctual.schedule.Windows;
import io.punctual.server.input.JsonValues.EpochMillis;
import io.punctual.server.problem.ApiException;
import io.punctual.server.security.Ownership;
import io.punctual.wire.Limits;
import jakarta.servlet.http.HttpServletRequest;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Checks values of requests, whether they came in a body, in the address or in a form. Each check
 * throws an {@link ApiException} (400) that names the field; a value that is null passes.
 */
public final class JobFields {

  /** Jackson reads at most so many digits: what has more behind the point is as good as zero. */
  private static final int MAX_SCALE = 1000;

  /** The longest delay of a job. */
  public static final Duration MAX_DELAY = Duration.ofDays(2_900_000);

  private static final String ONE_TIME =
      "give exactly one of delayTime (epoch ms), delay (ms, or a text such as 30m) and dueAt (a"
          + " time with offset)";

  private JobFields() {}

  /**
   * As the job's own check says it: "headers: detail", "tags: detail", or "headers.name detail".
   */
  public static ApiException named(IllegalArgumentException e) {
    String[] message = String.valueOf(e.getMessage()).split(":? ", 2);
    return ApiException.invalid(message[0], message[message.length - 1]);
  }

  /** Returns the application that the call is about; the caller's own if it does not say. */
  public static String application(@Nullable String given) {
    return required("application", Ownership.application(name("application", given)));
  }

  public static <T> T required(String field, @Nullable T value) {
    if (value == null) {
      throw ApiException.invalid(field, "is missing");
    }
    return value;
  }

  public static @Nullable String name(String field, @Nullable String value) {
    if (value != null && !Limits.isName(value)) {
      throw ApiException.invalid(field, Limits.NAME_RULE);
    }
    return value;
  }

  public static String requiredName(String field, @Nullable String value) {
    return required(field, name(field, value));
  }

  /** Checks a list of names, for instance of task types; null is an empty one. */
  public static List<String> names(String field, @Nullable List<String> names) {
    if (names == null) {
      return List.of();
    }
    for (int i = 0; i < names.size(); i++) {
      var unused = name(field + "[" + i + "]", names.get(i));
    }
    return names;
  }

  /** Checks a list of ids of jobs that may be there; null is an empty one. */
  public static List<String> taskIds(String field, @Nullable List<String> ids) {
    List<String> given = ids == null ? List.of() : ids;
    for (int i = 0; i < given.size(); i++) {
      var unused = taskId(field + "[" + i + "]", given.get(i));
    }
    return given;
  }

  /** Checks the id of a job that may be there. */
  public static @Nullable String taskId(String field, @Nullable String id) {
    if (id != null && !Limits.isTaskId(id)) {
      throw ApiException.invalid(field, Limits.NAME_RULE);
    }
    return id;
  }

  /** Checks the key of an event. */
  public static String eventKey(String field, @Nullable String key) {
    String given = required(field, key);
    if (!Limits.TAG.matcher(given).matches()) {
      throw ApiException.invalid(field, Limits.TAG_RULE);
    }
    return given;
  }

  /** Checks a whole number; null stands for {@code missing}. */
  public static int integer(String field, @Nullable Integer value, int missing, int min, int max) {
    if (value == null) {
      return missing;
    } else if (value < min || value > max) {
      throw ApiException.invalid(field, "must be a whole number between " + min + " and " + max);
    }
    return value;
  }

  public static @Nullable Duration within(
      String field, @Nullable Duration duration, Duration min, Duration max) {
    if (duration != null && (duration.compareTo(min) < 0 || duration.compareTo(max) > 0)) {
      throw ApiException.invalid(
          field,
          "must be between " + text(min) + " and " + text(max) + ", but was " + text(duration));
    }
    return duration;
  }

  public static @Nullable Duration timeToRun(@Nullable Duration timeToRun) {
    return within("timeToRun", timeToRun, Limits.MIN_TIME_TO_RUN, Limits.MAX_TIME_TO_RUN);
  }

  /** A duration as it may be sent, in the largest unit of which it is a whole number. */
  public static String text(Duration duration) {
    // At most so many as fit, where one is longer than the age of the world.
    long ms = TimeUnit.MILLISECONDS.convert(duration);
    if (ms % 1000 != 0) {
      return ms + "ms";
    }
    long s = ms / 1000;
    if (s == 0 || s % 60 != 0) {
      return s + "s";
    } else if (s % 3600 != 0) {
      return s / 60 + "m";
    }
    return s % 86_400 == 0 ? s / 86_400 + "d" : s / 3600 + "h";
  }

  /** Makes a duration of seconds, with a fraction or without. */
  public static @Nullable Duration seconds(
      String field, @Nullable BigDecimal number, Duration min, Duration max) {
    if (number == null) {
      return null;
    }
    // All digits of 1e-400000000 would take minutes.
    BigDecimal seconds = number.scale() > MAX_SCALE ? BigDecimal.ZERO : number;
    if (seconds.compareTo(BigDecimal.valueOf(min.toMillis(), 3)) < 0
        || seconds.compareTo(BigDecimal.valueOf(max.toMillis(), 3)) > 0) {
      throw ApiException.invalid(
          field, "must be between " + seconds(min) + " and " + seconds(max) + " seconds");
    }
    return Duration.ofMillis(
        seconds.movePointRight(3).setScale(0, RoundingMode.HALF_UP).longValueExact());
  }

  private static String seconds(Duration duration) {
    return BigDecimal.valueOf(duration.toMillis(), 3).stripTrailingZeros().toPlainString();
  }

  /** Makes epoch ms of a parameter in the address: an instant with offset, or epoch ms. */
  public static @Nullable Long moment(String field, @Nullable String value) {
    if (value == null) {
      return null;
    }
    // A plus sign in an address means a space to most programs.
    return value.matches("\\d{1,15}")
        ? Long.parseLong(value)
        : JsonValues.instant(field, value.replace(' ', '+')).toEpochMilli();
  }

  /** Makes a duration of a parameter in the address: milliseconds, or a text such as 30m. */
  public static @Nullable Duration duration(
      String field, @Nullable String value, Duration min, Duration max) {
    if (value == null) {
      return null;
    }
    return within(
        field,
        value.matches("\\d{1,15}")
            ? Duration.ofMillis(Long.parseLong(value))
            : JsonValues.duration(field, value),
        min,
        max);
  }

  /** Reads after which time a pause of a queue ends by itself; null is null. */
  public static @Nullable Duration pause(@Nullable String length) {
    return duration("for", length, Duration.ofSeconds(1), Pause.LONGEST);
  }

  /** Checks the text that a job hands to its worker; null is an empty one. */
  public static String params(String field, @Nullable String params) {
    if (params == null) {
      return "";
    } else if (!Limits.isWhole(params)) {
      throw ApiException.invalid(field, "must not hold half of a surrogate pair");
    } else if (!Limits.isParams(params)) {
      throw ApiException.invalid(
          field, "must be at most " + Limits.MAX_PARAMS_BYTES + " bytes of UTF-8");
    }
    return params;
  }

  /** Returns the zone of a name; null is null. */
  public static @Nullable ZoneId zone(String field, @Nullable String name) {
    if (name == null) {
      return null;
    } else if (name.equals("UTC")) {
      return ZoneOffset.UTC;
    } else if (!ZoneId.getAvailableZoneIds().contains(name)) {
      throw ApiException.invalid(
          field, "must be a name of the IANA time zone database, such as Europe/Berlin, or UTC");
    }
    return ZoneId.of(name);
  }

  /**
   * Makes the hours of a queue.
   *
   * @throws ApiException 400 naming the field
   */
  public static TimeRules hours(
      @Nullable String window, @Nullable String zone, @Nullable String calendar) {
    try {
      return new TimeRules(
          null,
          null,
          null,
          window == null ? null : Windows.parse(window),
          zone("windowZone", zone),
          calendar);
    } catch (IllegalArgumentException e) {
      throw named(e);
    }
  }

  /** Makes a due time of exactly one of these. */
  public static Due due(
      @Nullable EpochMillis delayTime, @Nullable Duration delay, @Nullable Instant dueAt) {
    Due due = dueOrNull(delayTime, delay, dueAt);
    if (due == null) {
      throw ApiException.invalid("delayTime", "is missing: " + ONE_TIME);
    }
    return due;
  }

  /** Makes a due time of one of these at most; null if there is none. */
  public static @Nullable Due dueOrNull(
      @Nullable EpochMillis delayTime, @Nullable Duration delay, @Nullable Instant dueAt) {
    Duration checked = within("delay", delay, Duration.ZERO, MAX_DELAY);
    int given = (delayTime == null ? 0 : 1) + (delay == null ? 0 : 1) + (dueAt == null ? 0 : 1);
    if (given > 1) {
      throw ApiException.invalid("delayTime", "is not alone: " + ONE_TIME);
    } else if (checked != null) {
      return Due.in(checked.toMillis());
    } else if (dueAt != null) {
      return Due.at(dueAt.toEpochMilli());
    }
    return delayTime == null ? null : Due.at(delayTime.value());
  }

  /** Returns the name that a worker gives itself, else its address. */
  public static String worker(@Nullable String worker, HttpServletRequest request) {
    return worker != null ? worker(worker) : address(request);
  }

  /** Returns the address of a caller. */
  public static String address(HttpServletRequest request) {
    return request.getRemoteAddr() + ":" + request.getRemotePort();
  }

  /** Checks the name that a worker gives itself. */
  public static String worker(String worker) {
    if (!worker.matches("[!-~]{1,100}")) {
      throw ApiException.invalid(
          "worker", "must be 1 to 100 printable ASCII characters without spaces");
    }
    return worker;
  }
}
