package io.punctual.server.api;

import io.punctual.DelayQueueJob;
import io.punctual.Limits;
import io.punctual.RetryPolicy;
import io.punctual.core.job.Due;
import io.punctual.core.job.QueueName;
import io.punctual.server.web.ApiException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads a job, and the due time of a reschedule. */
record JobInput(String application, DelayQueueJob job) {

  private static final Duration MAX_DELAY = Duration.ofDays(2_900_000);
  private static final Pattern TRACEPARENT =
      Pattern.compile("00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}");
  private static final String ONE_TIME =
      "give exactly one of delayTime (epoch ms), delay (ms, or a text such as 30m) and dueAt (a"
          + " time with offset)";

  QueueName queue() {
    return new QueueName(application, job.taskType());
  }

  /** Estimates the bytes that Redis keeps of a job's content: one for each character. */
  static int size(DelayQueueJob job) {
    int size = job.params().length();
    for (Map.Entry<String, String> header : job.headers().entrySet()) {
      size += header.getKey().length() + header.getValue().length();
    }
    return size;
  }

  /**
   * Submitted in the trace of its request, unless it names one itself.
   *
   * @param traceparent the request's header; null for none
   */
  JobInput in(@Nullable String traceparent) {
    if (traceparent == null
        || !TRACEPARENT.matcher(traceparent).matches()
        || job.headers().containsKey("traceparent")) {
      return this;
    }
    return new JobInput(application, job.withHeader("traceparent", traceparent));
  }

  static JobInput read(JsonFields fields) {
    return read(fields, queue -> UUID.randomUUID().toString());
  }

  /**
   * Reads a job.
   *
   * @param namer gives the id of a job that has none
   */
  static JobInput read(JsonFields fields, Function<QueueName, String> namer) {
    String application = fields.application();
    String taskType = fields.requiredName("taskType");
    String taskId = fields.name("taskId");
    Due due = due(fields);
    String params = params(fields, "params");
    Duration timeToRun =
        fields.duration("timeToRun", Limits.MIN_TIME_TO_RUN, Limits.MAX_TIME_TO_RUN);
    RetryPolicy retry = retry(fields);
    Map<String, String> headers = fields.texts("headers");
    List<String> tags = fields.textList("tags");
    fields.noMore();
    try {
      return new JobInput(
          application,
          new DelayQueueJob(
              taskId == null ? namer.apply(new QueueName(application, taskType)) : taskId,
              taskType,
              due.relative() ? null : due.millis(),
              due.relative() ? Duration.ofMillis(due.millis()) : null,
              params == null ? "" : params,
              timeToRun,
              retry,
              headers,
              tags));
    } catch (IllegalArgumentException e) {
      throw named(fields, e);
    }
  }

  /**
   * As the job's own check says it: "headers: detail", "tags: detail", or "headers.name detail".
   */
  static ApiException named(JsonFields fields, IllegalArgumentException e) {
    String[] message = String.valueOf(e.getMessage()).split(":? ", 2);
    return fields.error(message[0], message[message.length - 1]);
  }

  /** The text that a job hands to its worker. */
  static @Nullable String params(JsonFields fields, String field) {
    String params = fields.text(field);
    if (params != null && !Limits.isParams(params)) {
      throw fields.error(field, "must be at most " + Limits.MAX_PARAMS_BYTES + " bytes of UTF-8");
    }
    return params;
  }

  /** Exactly one of delayTime, delay and dueAt. */
  static Due due(JsonFields fields) {
    Due due = dueOrNull(fields);
    if (due == null) {
      throw fields.error("delayTime", "is missing: " + ONE_TIME);
    }
    return due;
  }

  /** At most one of delayTime, delay and dueAt. */
  static @Nullable Due dueOrNull(JsonFields fields) {
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

  static @Nullable RetryPolicy retry(JsonFields fields) {
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
}
