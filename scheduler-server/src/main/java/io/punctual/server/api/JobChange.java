package io.punctual.server.api;

import io.punctual.DelayQueueJob;
import io.punctual.Limits;
import io.punctual.RetryPolicy;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobContent;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Reads what a waiting job shall become; what is not given stays.
 *
 * @param due null keeps the due time
 * @param content null keeps the content
 * @param size of the new params, characters; 0 where they stay
 */
record JobChange(@Nullable Due due, @Nullable UnaryOperator<JobContent> content, int size) {

  static JobChange read(JsonFields fields) {
    Due due = JobInput.dueOrNull(fields);
    String params = JobInput.params(fields, "params");
    Duration timeToRun =
        fields.duration("timeToRun", Limits.MIN_TIME_TO_RUN, Limits.MAX_TIME_TO_RUN);
    RetryPolicy retry = JobInput.retry(fields);
    Map<String, String> headers = fields.get("headers") == null ? null : fields.texts("headers");
    List<String> tags = fields.get("tags") == null ? null : fields.textList("tags");
    fields.noMore();
    boolean content =
        params != null || timeToRun != null || retry != null || headers != null || tags != null;
    if (due == null && !content) {
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
      throw JobInput.named(fields, e);
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
