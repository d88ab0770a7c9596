package io.punctual.core.store.query;

import io.punctual.core.job.AttemptCounts;
import io.punctual.core.job.JobRecord;
import io.punctual.core.job.JobState;
import io.punctual.core.job.LeaseToken;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A job as it is now.
 *
 * @param record null for FINISHED and CANCELLED, and for a dead letter whose record is gone
 * @param at epoch ms: due time, lease deadline, time of death, or when it finished or was cancelled
 * @param lease who works on it, for RESERVED
 * @param errors what went wrong, newest first, the last ten at most
 */
public record JobSnapshot(
    long now,
    String taskId,
    JobState state,
    long at,
    @Nullable JobRecord record,
    AttemptCounts tries,
    @Nullable LeaseInfo lease,
    List<Failure> errors) {

  /** The number of the job's last change; 0 for FINISHED and CANCELLED. */
  public long version() {
    return switch (state) {
      case DELAYED, DEAD -> tries.version();
      case RESERVED -> lease == null ? 0 : lease.version();
      case FINISHED, CANCELLED -> 0;
    };
  }

  /**
   * The lease of a reserved job.
   *
   * @param due the due time of the attempt under way, epoch ms
   * @param version the number of the claim among the job's changes
   */
  public record LeaseInfo(
      LeaseToken token,
      int attempt,
      boolean alone,
      long claimedAt,
      long due,
      long version,
      String owner) {}

  /**
   * An attempt that went wrong.
   *
   * @param at epoch ms
   * @param kind the settlement (fail, unknown, undeliverable, reject), {@code lease} or {@code
   *     corrupt}
   * @param disposition what it led to: {@code retry} or {@code dead-...}
   * @param attempt its number; 0 for {@code corrupt}
   * @param claimedAt epoch ms at which it began; 0 for {@code corrupt}
   * @param note as given with the settlement
   */
  public record Failure(
      long at, String kind, String disposition, int attempt, long claimedAt, byte[] note) {}
}
