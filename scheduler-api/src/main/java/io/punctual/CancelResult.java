package io.punctual;

/**
 * The result of a cancel.
 *
 * @param attempt the number of the attempt under way for {@link Outcome#IN_DELIVERY} and {@link
 *     Outcome#CANCELLING}, else 0
 * @param version the number of the job's last change; 0 where that is not known
 * @param durability where the change was when the scheduler answered: {@code redis} for what Redis
 *     is configured to, {@code synced} for its disk, {@code replicated:n} for n replicas; empty
 *     where nothing was changed
 */
public record CancelResult(Outcome outcome, int attempt, long version, String durability) {

  /** The cases. */
  public enum Outcome {
    /** The job will not run; also when an earlier cancel had done it already. */
    CANCELLED,
    /**
     * A worker has it, and is told to stop, see {@link TaskSubmitService.Running#INTERRUPT}. A
     * later cancel or {@link TaskSubmitService#find} tells whether the job was cancelled or
     * finished anyway.
     */
    CANCELLING,
    /** Too late to be sure: a worker has it. It was left alone. */
    IN_DELIVERY,
    /** Too late: it ran. */
    FINISHED,
    /** It is a dead letter: nothing will run it unless somebody requeues it. */
    DEAD,
    /** No such job is known; it never was there, or it is long gone. */
    UNKNOWN,
    /**
     * The call was made inside of a transaction: the job is cancelled when that has committed. The
     * scheduler has not been asked yet.
     */
    ON_COMMIT
  }

  /** Whether the job is certain not to run (again) because of this call or an earlier cancel. */
  public boolean cancelled() {
    return outcome == Outcome.CANCELLED;
  }
}
