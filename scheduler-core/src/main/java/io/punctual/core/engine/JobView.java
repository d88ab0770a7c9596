package io.punctual.core.engine;

import io.punctual.core.job.JobContent;
import io.punctual.core.job.JobState;
import io.punctual.core.job.Tries;
import io.punctual.core.queue.QueueName;
import org.jspecify.annotations.Nullable;

/**
 * A job for people.
 *
 * @param at epoch ms: due time, lease deadline, time of death, or of finish or cancel
 * @param acceptedAt epoch ms; 0 when the record is gone
 * @param content null when the record is gone
 * @param owner the scheduler that holds the lease, when reserved
 */
public record JobView(
    QueueName queue,
    String taskId,
    JobState state,
    long at,
    long acceptedAt,
    @Nullable String incarnation,
    @Nullable JobContent content,
    Tries tries,
    int maxAttempts,
    int attempt,
    @Nullable String owner,
    @Nullable LastError error) {

  /**
   * The last thing that went wrong.
   *
   * @param kind failed, unknown, undeliverable, rejected, lease or corrupt
   */
  public record LastError(long at, String kind, String instance, String message) {}
}
