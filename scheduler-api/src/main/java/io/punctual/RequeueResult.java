package io.punctual;

/** What a requeue found. */
public record RequeueResult(Outcome outcome) {

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
