package io.punctual.core.store;

import io.punctual.core.job.JobVersion;
import io.punctual.core.store.durability.Reached;
import org.jspecify.annotations.Nullable;

/**
 * What an undo of a cancel did.
 *
 * @param due epoch ms at which the job is due, of RESTORED and EXISTS if it waits or runs; else 0
 * @param attempt the attempt under way, of RESTORED and EXISTS; 0 if none is
 * @param version what the job is now; null if there is none
 * @param newHead the due time if the job became the earliest of the bucket, else null
 * @param reached where the change was when it was answered
 */
public record Restored(
    Kind kind,
    long due,
    int attempt,
    @Nullable JobVersion version,
    @Nullable Long newHead,
    Reached reached) {

  /** The cases; all but RESTORED changed nothing. */
  public enum Kind {
    /**
     * The job is there as it was before its cancel, or goes on; also if an earlier call did that.
     */
    RESTORED,
    /** A job of that id is there that was not cancelled. */
    EXISTS,
    /** It ran already. */
    FINISHED,
    /** It was cancelled, and is not kept any more. */
    TOO_LATE,
    /** There is no such job. */
    UNKNOWN
  }

  /** Nothing was changed, and no job is there. */
  public static Restored refused(Kind kind) {
    return new Restored(kind, 0, 0, null, null, Reached.REDIS);
  }
}
