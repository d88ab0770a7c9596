package io.punctual.server.web;

import io.punctual.Limits;
import io.punctual.RetryPolicy;
import io.punctual.core.job.Due;
import io.punctual.server.problem.ApiException;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Reads the fields of a job that several calls have. */
public final class JobFields {

  private static final Duration MAX_DELAY = Duration.ofDays(2_900_000);
  private static final String ONE_TIME =
      "give exactly one of delayTime (epoch ms), delay (ms, or a text such as 30m) and dueAt (a"
          + " time with offset)";

  private static final String PARAMS =
      "must be at most " + Limits.MAX_PARAMS_BYTES + " bytes of UTF-8";

  private JobFields() {}

  /**
   * As the job's own check says it: "headers: detail", "tags: detail", or "headers.name detail".
   */
  public static ApiException named(JsonFields fields, IllegalArgumentException e) {
    String[] message = String.valueOf(e.getMessage()).split(":? ", 2);
    return fields.error(message[0], message[message.length - 1]);
  }

  /** The text that a job hands to its worker. */
  public static @Nullable String params(JsonFields fields, String field) {
    String params = fields.text(field);
    if (params != null && !Limits.isParams(params)) {
      throw fields.error(field, PARAMS);
    }
    return params;
  }

  /**
   * Checks params that came in a form.
   *
   * @throws ApiException 400
   */
  public static String params(String params) {
    if (!Limits.isWhole(params)) {
      throw ApiException.invalid("params", "must not hold half of a surrogate pair");
    } else if (!Limits.isParams(params)) {
      throw ApiException.invalid("params", PARAMS);
    }
    return params;
  }

  /**
   * Reads a due time that came in a form: an instant with offset, or a delay such as 30m.
   *
   * @throws ApiException 400
   */
  public static Due due(String when) {
    String text = when.strip();
    return text.contains("-")
        ? Due.at(JsonFields.instant("dueAt", text))
        : Due.in(JsonFields.parsed("delay", text, Duration.ZERO, MAX_DELAY).toMillis());
  }

  /** Exactly one of delayTime, delay and dueAt. */
  public static Due due(JsonFields fields) {
    Due due = dueOrNull(fields);
    if (due == null) {
      throw fields.error("delayTime", "is missing: " + ONE_TIME);
    }
    return due;
  }

  /** At most one of delayTime, delay and dueAt. */
  public static @Nullable Due dueOrNull(JsonFields fields) {
    Long delayTime = fields.epochMillis("delayTime");
    Duration delay = fields.duration("delay", Duration.ZERO, MAX_DELAY);
    Long dueAt = fields.instant("dueAt");
    int given = (delayTime == null ? 0 : 1) + (delay == null ? 0 : 1) + (dueAt == null ? 0 : 1);
    if (given > 1) {
      throw fields.error("delayTime", "is not alone: " + ONE_TIME);
    } else if (given == 0) {
      return null;
    } else if (delay != null) {
      return Due.in(delay.toMillis());
    }
    return Due.at(Objects.requireNonNull(delayTime != null ? delayTime : dueAt));
  }

  public static @Nullable RetryPolicy retry(JsonFields fields) {
    String text = fields.text("retry");
    if (text == null) {
      return null;
    }
    if (!text.matches("[ -~]*")) {
      throw fields.error("retry", "must be printable ASCII");
    }
    try {
      return RetryPolicy.parse(text);
    } catch (IllegalArgumentException e) {
      // The message quotes the text, which can be of any length.
      String message = String.valueOf(e.getMessage());
      throw fields.error(
          "retry", message.length() > 400 ? message.substring(0, 400) + "..." : message);
    }
  }

  /** Returns the name that a worker gives itself, else its address. */
  public static String worker(JsonFields fields, HttpServletRequest request) {
    String worker = fields.text("worker");
    if (worker != null && !worker.matches("[!-~]{1,100}")) {
      throw fields.error("worker", "must be 1 to 100 printable ASCII characters without spaces");
    }
    return worker != null ? worker : request.getRemoteAddr() + ":" + request.getRemotePort();
  }

  /** Returns what a worker says about a failure. */
  public static String error(JsonFields fields) {
    String error = fields.text("error");
    return error == null ? "" : error;
  }

  /** Returns a list of names, for instance of task types. */
  public static List<String> names(JsonFields fields, String field, List<String> names) {
    for (int i = 0; i < names.size(); i++) {
      if (!Limits.isName(names.get(i))) {
        throw fields.error(field + "[" + i + "]", Limits.NAME_RULE);
      }
    }
    return names;
  }
}
