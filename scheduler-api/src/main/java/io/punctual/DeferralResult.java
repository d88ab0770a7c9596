package io.punctual;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The result of a call about a job that goes on without its worker ({@link TaskContext#defer}).
 *
 * @param at when it is due again for {@link Outcome#RETRY}, until when it must be finished for
 *     {@link Outcome#EXTENDED}, else null
 */
public record DeferralResult(Outcome outcome, @Nullable Instant at) {

  /** The cases. */
  public enum Outcome {
    /** The job is finished. */
    DONE,
    /** It was finished before. */
    ALREADY_DONE,
    /** The attempt failed, and the job is tried again. */
    RETRY,
    /** The job is a dead letter: it was rejected, or that was its last attempt. */
    DEAD,
    /**
     * The job was told to stop and is cancelled, see {@link TaskSubmitService.Running#INTERRUPT}.
     */
    CANCELLED,
    /** There is more time to finish it. */
    EXTENDED,
    /**
     * The attempt is over: its time was up, or it was ended before. The job is delivered again, or
     * was, or is a dead letter. Nothing was changed; {@link TaskSubmitService#finish} counts all
     * the same, and never meets this.
     */
    LEASE_LOST,
    /** No such job is known any more: it was ended long ago, or purged. */
    UNKNOWN,
    /**
     * The call was made inside of a transaction, and takes effect when that has committed. The
     * scheduler has not been asked yet.
     */
    ON_COMMIT
  }
}
