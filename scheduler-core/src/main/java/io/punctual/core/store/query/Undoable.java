package io.punctual.core.store.query;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Part of what is kept of the jobs that an operation cancelled.
 *
 * @param items in the order in which they are forgotten; there may be fewer than asked for, or
 *     none, before the end
 * @param next where to go on; null at the end
 */
public record Undoable(List<Item> items, @Nullable Cursor next) {

  /**
   * A job that the operation cancelled.
   *
   * @param until epoch ms until which it is kept
   */
  public record Item(String taskId, long until, Outcome outcome) {

    /** Returns its place in lists. */
    public Cursor place() {
      return new Cursor(until, taskId);
    }
  }

  /** What a restore of a job does. */
  public enum Outcome {
    /** The job is put back. */
    RESTORED,
    /** Its cancel is undone already. */
    UNDONE,
    /** A later job has its id. */
    EXISTS,
    /** It was restored or submitted again, and ran. */
    FINISHED,
    /** It is kept no longer. */
    TOO_LATE,
    /** It was too large to be kept. */
    TOO_LARGE,
    /** What is kept belongs to an earlier job of that id, or cannot be read. */
    NOT_KEPT,
    /** Its tombstone is gone: it was purged, or is forgotten. */
    UNKNOWN
  }
}
