package io.punctual;

/**
 * The result of a requeue.
 *
 * @param version the number of the job's last change; 0 where nothing was changed
 * @param durability where the change was when the scheduler answered, as in {@link
 *     CancelResult#durability()}; empty where nothing was changed
 */
public record RequeueResult(Outcome outcome, long version, String durability) {

  /** The cases. */
  public enum Outcome {
    /** The dead letter waits again, due now, with all its attempts. */
    REQUEUED,
    /** The job is no dead letter: it waits, a worker has it, it ran, or it was cancelled. */
    NOT_DEAD,
    /** No such job is known. */
    UNKNOWN
  }

  /** Whether the job waits again because of this call. */
  public boolean requeued() {
    return outcome == Outcome.REQUEUED;
  }
}
