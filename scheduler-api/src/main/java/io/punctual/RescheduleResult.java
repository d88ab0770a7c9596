package io.punctual;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The result of a reschedule.
 *
 * @param dueAt the new due time for {@link Outcome#RESCHEDULED}, else null
 * @param attempt the number of the attempt under way for {@link Outcome#IN_DELIVERY}, else 0
 * @param version the number of the job's last change; 0 where that is not known
 * @param durability where the change was when the scheduler answered: {@code redis} for what Redis
 *     is configured to, {@code synced} for its disk, {@code replicated:n} for n replicas; empty
 *     where nothing was changed
 */
public record RescheduleResult(
    Outcome outcome, @Nullable Instant dueAt, int attempt, long version, String durability) {

  /** The cases. */
  public enum Outcome {
    /** The waiting job has the new due time. */
    RESCHEDULED,
    /** A worker has it; it was left alone. */
    IN_DELIVERY,
    /** It ran; it was left alone. */
    FINISHED,
    /** It is a dead letter; requeue it instead. */
    DEAD,
    /** No such job is known. */
    UNKNOWN,
    /**
     * The call was made inside of a transaction: the job is moved when that has committed. The
     * scheduler has not been asked yet.
     */
    ON_COMMIT
  }
}
