package io.punctual.server.rest;

import io.punctual.DelayQueueJob;
import io.punctual.Limits;
import io.punctual.RetryPolicy;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.QueueName;
import io.punctual.server.jobs.JobChange;
import io.punctual.server.jobs.NewJob;
import io.punctual.server.web.JobFields;
import io.punctual.server.web.JsonFields;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads the jobs of submits and changes. */
final class JobInput {

  private static final Pattern TRACEPARENT =
      Pattern.compile("00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}");

  private JobInput() {}

  /**
   * Puts a job into the trace of its request, unless the job names one itself.
   *
   * @param traceparent the request's header; null for none
   */
  static NewJob traced(NewJob job, @Nullable String traceparent) {
    if (traceparent == null
        || !TRACEPARENT.matcher(traceparent).matches()
        || job.job().headers().containsKey("traceparent")) {
      return job;
    }
    return new NewJob(
        job.application(), job.job().withHeader("traceparent", traceparent), job.named());
  }

  static NewJob read(JsonFields fields) {
    return read(fields, queue -> UUID.randomUUID().toString());
  }

  /**
   * Reads a job.
   *
   * @param namer gives the id of a job that has none
   */
  static NewJob read(JsonFields fields, Function<QueueName, String> namer) {
    String application = fields.application();
    String taskType = fields.requiredName("taskType");
    String taskId = fields.name("taskId");
    Due due = JobFields.due(fields);
    String params = JobFields.params(fields, "params");
    Duration timeToRun =
        fields.duration("timeToRun", Limits.MIN_TIME_TO_RUN, Limits.MAX_TIME_TO_RUN);
    RetryPolicy retry = JobFields.retry(fields);
    Map<String, String> headers = fields.texts("headers");
    List<String> tags = fields.textList("tags");
    fields.noMore();
    try {
      return new NewJob(
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
              tags),
          taskId != null);
    } catch (IllegalArgumentException e) {
      throw JobFields.named(fields, e);
    }
  }

  /** Reads what a waiting job shall become. */
  static JobChange change(JsonFields fields) {
    Due due = JobFields.dueOrNull(fields);
    String params = JobFields.params(fields, "params");
    Duration timeToRun =
        fields.duration("timeToRun", Limits.MIN_TIME_TO_RUN, Limits.MAX_TIME_TO_RUN);
    RetryPolicy retry = JobFields.retry(fields);
    Map<String, String> headers = fields.get("headers") == null ? null : fields.texts("headers");
    List<String> tags = fields.get("tags") == null ? null : fields.textList("tags");
    fields.noMore();
    boolean content =
        params != null || timeToRun != null || retry != null || headers != null || tags != null;
    if (!content && due == null) {
      throw fields.error(
          "delayTime",
          "is missing: give a new time (delayTime, delay or dueAt), or new params, headers, tags,"
              + " timeToRun or retry");
    }
    DelayQueueJob checked;
    try {
      checked =
          new DelayQueueJob(
              "x",
              "x",
              0L,
              null,
              "",
              null,
              null,
              headers == null ? Map.of() : headers,
              tags == null ? List.of() : tags);
    } catch (IllegalArgumentException e) {
      throw JobFields.named(fields, e);
    }
    return new JobChange(
        due,
        content
            ? old ->
                new JobContent(
                    due != null ? due : old.due(),
                    params != null ? params : old.params(),
                    timeToRun != null ? timeToRun : old.timeToRun(),
                    retry != null ? retry : old.retry(),
                    headers != null ? checked.headers() : old.headers(),
                    tags != null ? checked.tags() : old.tags())
            : null,
        params == null ? 0 : params.length());
  }
}
