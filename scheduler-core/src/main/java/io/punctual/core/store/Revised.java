package io.punctual.core.store;

import io.punctual.core.job.JobVersion;
import io.punctual.core.store.durability.Reached;
import org.jspecify.annotations.Nullable;

/**
 * The result of a revision.
 *
 * @param due epoch ms, of REVISED
 * @param attempt of IN_DELIVERY
 * @param version what the job is now; its incarnation is empty where its record is not readable.
 *     Null where no job is there
 * @param newHead the due time when the job became the earliest of the bucket, else null
 * @param reached where the change was when it was answered
 */
public record Revised(
    Kind kind,
    long due,
    int attempt,
    @Nullable JobVersion version,
    @Nullable Long newHead,
    Reached reached) {

  /** Answered by Redis alone. */
  public Revised(
      Kind kind, long due, int attempt, @Nullable JobVersion version, @Nullable Long newHead) {
    this(kind, due, attempt, version, newHead, Reached.REDIS);
  }

  /** A revision that changed nothing. */
  public static Revised refused(Kind kind, int attempt, @Nullable JobVersion version) {
    return new Revised(kind, 0, attempt, version, null);
  }

  /** The cases; all but REVISED changed nothing. */
  public enum Kind {
    /** As asked for. */
    REVISED,
    /** It is not the version any more that was seen. */
    CHANGED,
    /** A worker has it. */
    IN_DELIVERY,
    /** It is a dead letter. */
    DEAD,
    /** It ran already. */
    FINISHED,
    /** There is no such job, or it was cancelled. */
    UNKNOWN
  }
}
