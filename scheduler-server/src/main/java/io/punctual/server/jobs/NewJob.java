package io.punctual.server.jobs;

import io.punctual.DelayQueueJob;
import io.punctual.core.job.QueueName;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A job to submit.
 *
 * @param named whether the client chose the task id
 */
public record NewJob(String application, DelayQueueJob job, boolean named) {

  private static final Pattern TRACEPARENT =
      Pattern.compile("00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}");

  /**
   * Puts the job into the trace of its request, unless it names one itself.
   *
   * @param traceparent as the request's header has it; null for none
   */
  public NewJob traced(@Nullable String traceparent) {
    return traceparent == null
            || !TRACEPARENT.matcher(traceparent).matches()
            || job.headers().containsKey("traceparent")
        ? this
        : new NewJob(
            application, job.toBuilder().header("traceparent", traceparent).build(), named);
  }

  /** Returns the queue of the job. */
  public QueueName queue() {
    return new QueueName(application, job.taskType());
  }

  /** Returns the name of the job. */
  public JobRef ref() {
    return new JobRef(queue(), job.taskId());
  }

  /** Estimates the bytes that Redis keeps of the job's content: one for each character. */
  int size() {
    int size = job.params().length();
    for (Map.Entry<String, String> header : job.headers().entrySet()) {
      size += header.getKey().length() + header.getValue().length();
    }
    return size;
  }
}
