package io.punctual.core.store;

import org.jspecify.annotations.Nullable;

/**
 * What a job was when somebody was told so, to be put back where a fail-over has forgotten it.
 *
 * @param incarnation of the job
 * @param at epoch ms: the due time of a job that waits, or when it ended
 * @param job what it was; null if it ended
 */
public record Restoration(
    Kind kind, String taskId, String incarnation, long at, @Nullable JobRecord job) {

  /** The cases. */
  public enum Kind {
    /** It was stored. */
    WAITING,
    /** It was moved, or got other content. */
    CHANGED,
    /** It is done. */
    DONE,
    /** It was cancelled. */
    CANCELLED
  }

  /** Checks what the script relies on. */
  public Restoration {
    boolean waits = kind == Kind.WAITING || kind == Kind.CHANGED;
    if (waits != (job != null)) {
      throw new IllegalArgumentException("a job that waits needs its record, one that ended none");
    }
  }

  /** A job that waits. */
  public static Restoration waiting(Kind kind, String taskId, long due, JobRecord job) {
    return new Restoration(kind, taskId, job.incarnation(), due, job);
  }

  /** A job that ended. */
  public static Restoration ended(Kind kind, String taskId, String incarnation, long at) {
    return new Restoration(kind, taskId, incarnation, at, null);
  }
}
