package io.punctual.core;

import io.punctual.core.job.QueueName;
import io.punctual.core.store.JobStore;
import io.punctual.wire.Limits;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Asks for jobs that are due.
 *
 * @param queues in order of priority, at least one
 * @param max most jobs, 1 to 200
 * @param patience how long to wait for the first one; zero not at all
 * @param timeToRun how long the jobs are the caller's; null for the time that each job says, else
 *     {@link Limits#DEFAULT_TIME_TO_RUN}
 * @param owner who pulls, for people: 1 to 128 printable characters without spaces
 */
public record PullRequest(
    List<QueueName> queues,
    int max,
    Duration patience,
    @Nullable Duration timeToRun,
    String owner) {

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming what is out of range
   */
  public PullRequest {
    queues = queues.stream().distinct().toList();
    if (queues.isEmpty()) {
      throw new IllegalArgumentException("a pull must name a queue");
    }
    if (max < 1 || max > JobStore.MAX_JOBS) {
      throw new IllegalArgumentException(
          "max must be between 1 and " + JobStore.MAX_JOBS + ", not " + max);
    }
  }

  public Duration lease() {
    return timeToRun == null ? Limits.DEFAULT_TIME_TO_RUN : timeToRun;
  }

  public JobStore.ClaimMode mode() {
    return timeToRun == null ? JobStore.ClaimMode.OWN : JobStore.ClaimMode.GIVEN;
  }
}
