package io.punctual.core.store;

import io.punctual.core.job.JobVersion;
import io.punctual.core.store.durability.Reached;
import org.jspecify.annotations.Nullable;

/**
 * The result of an undo of a cancel.
 *
 * @param due epoch ms at which the job is due, of RESTORED and EXISTS if it waits or runs; else 0
 * @param attempt the attempt under way, of RESTORED and EXISTS; 0 if none is
 * @param version the version of the job now; null if there is no job
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
     * The job is as it was before its cancel, or its attempt may go on; also if an earlier call did
     * that.
     */
    RESTORED,
    /** There is a job with that id that was not cancelled. */
    EXISTS,
    /** It ran already. */
    FINISHED,
    /** It was cancelled, and the time in which that can be undone is over. */
    TOO_LATE,
    /** It was cancelled, and was too large to be kept. */
    TOO_LARGE,
    /**
     * It was cancelled, and is not kept: others were cancelled after it, or a scheduler of an
     * earlier release cancelled it.
     */
    NOT_KEPT,
    /** It was cancelled, but not by the operation whose cancels are undone. */
    CHANGED,
    /** There is no such job. */
    UNKNOWN
  }

  /** Nothing was changed, and no job is there. */
  public static Restored refused(Kind kind) {
    return new Restored(kind, 0, 0, null, null, Reached.REDIS);
  }
}
