package io.punctual.core.store;

import io.punctual.core.store.durability.Reached;

/**
 * The result of a cancel.
 *
 * @param attempt of IN_DELIVERY and CANCELLING, else 0
 * @param version the number of the job's last change; 0 where that is not known
 * @param reached where the change was when it was answered
 */
public record Cancelled(Kind kind, int attempt, long version, Reached reached) {

  /** Answered by Redis alone. */
  public Cancelled(Kind kind, int attempt, long version) {
    this(kind, attempt, version, Reached.REDIS);
  }

  /** The cases; all but CANCELLED and CANCELLING changed nothing. */
  public enum Kind {
    /** It will not run; also where an earlier cancel had done it. */
    CANCELLED,
    /**
     * A worker has it and is told to stop. Unless the worker finishes it anyway, it is cancelled.
     */
    CANCELLING,
    /** It is not the version any more that was seen. */
    CHANGED,
    /** A worker has it. */
    IN_DELIVERY,
    /** It is a dead letter. */
    DEAD,
    /** It ran already. */
    FINISHED,
    /** There is no such job. */
    UNKNOWN
  }
}
