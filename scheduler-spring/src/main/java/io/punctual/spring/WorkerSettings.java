package io.punctual.spring;

import io.punctual.DelayQueueJob;
import io.punctual.RetryPolicy;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The settings for the jobs of one task type; null for a setting that is not given.
 *
 * @param concurrency how many of them this instance runs at once
 * @param timeToRun for jobs that bring none
 * @param retry for jobs that bring none
 * @param once where it is remembered which of them are done
 */
public record WorkerSettings(
    @Nullable Integer concurrency,
    @Nullable Duration timeToRun,
    @Nullable RetryPolicy retry,
    @Nullable Once once) {

  /** Nothing is set. */
  public static final WorkerSettings NONE = new WorkerSettings(null, null, null, null);

  /** These, and where they say nothing the others. */
  public WorkerSettings or(WorkerSettings others) {
    return new WorkerSettings(
        concurrency != null ? concurrency : others.concurrency,
        timeToRun != null ? timeToRun : others.timeToRun,
        retry != null ? retry : others.retry,
        once != null ? once : others.once);
  }

  /** The job with what it does not say itself. */
  DelayQueueJob complete(DelayQueueJob job) {
    Duration time = job.timeToRun() != null ? job.timeToRun() : timeToRun;
    RetryPolicy policy = job.retry() != null ? job.retry() : retry;
    boolean complete =
        (job.timeToRun() != null || timeToRun == null) && (job.retry() != null || retry == null);
    return complete ? job : job.toBuilder().timeToRun(time).retry(policy).build();
  }
}
