package io.punctual.core.job;

import io.punctual.RetryPolicy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the submitter said about a job, as asked for: two submissions with equal content are the
 * same job.
 *
 * @param due as asked for, so that the same relative delay is the same content
 * @param timeToRun null for the default
 * @param tags in ascending order, each once
 * @param retry null for the queue's policy
 */
public record JobContent(
    Due due,
    String params,
    @Nullable Duration timeToRun,
    @Nullable RetryPolicy retry,
    Map<String, String> headers,
    List<String> tags) {

  /** The same with other headers. */
  public JobContent with(Map<String, String> others) {
    return new JobContent(due, params, timeToRun, retry, others, tags);
  }
}
