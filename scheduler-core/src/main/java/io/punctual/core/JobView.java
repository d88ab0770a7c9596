package io.punctual.core;

import io.punctual.core.job.AttemptCounts;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.JobState;
import io.punctual.core.job.QueueName;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A job for people.
 *
 * @param now the store's time when it was looked at, epoch ms
 * @param at epoch ms: due time, lease deadline, time of death, or of finish or cancel
 * @param acceptedAt epoch ms; 0 when the record is gone
 * @param version the number of its last change; 0 for FINISHED and CANCELLED
 * @param submitter who submitted it, as far as that is known
 * @param timeToRun ms that one attempt may take; 0 if the job did not say
 * @param tags in ascending order
 * @param content null in lists, and when it is gone or cannot be read
 * @param owner who holds the lease, a scheduler or somebody who pulled, when reserved
 * @param failures what went wrong, newest first, the last ten at most
 */
public record JobView(
    long now,
    QueueName queue,
    String taskId,
    JobState state,
    long at,
    long acceptedAt,
    @Nullable String incarnation,
    long version,
    @Nullable String submitter,
    long timeToRun,
    List<String> tags,
    @Nullable JobContent content,
    AttemptCounts tries,
    int maxAttempts,
    int attempt,
    @Nullable String owner,
    List<Failure> failures) {

  /** Whether it waits and is due. */
  public boolean ready() {
    return state == JobState.DELAYED && at <= now;
  }

  /** The last thing that went wrong, if anything did. */
  public @Nullable Failure lastFailure() {
    return failures.isEmpty() ? null : failures.get(0);
  }

  /**
   * An attempt that went wrong.
   *
   * @param at epoch ms
   * @param kind failed, unknown, undeliverable, rejected, lease or corrupt
   * @param attempt its number; 0 for corrupt
   * @param startedAt epoch ms at which it was claimed; 0 for corrupt
   * @param instance where; empty if nowhere
   */
  public record Failure(
      long at, String kind, int attempt, long startedAt, String instance, String message) {}
}
