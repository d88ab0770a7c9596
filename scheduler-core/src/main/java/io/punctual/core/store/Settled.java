package io.punctual.core.store;

/**
 * The result of a settlement.
 *
 * @param at epoch ms: the next due time of RETRY, now of DONE, else 0
 * @param successor epoch ms at which the job is due that waited for the end of DONE, DEAD,
 *     CANCELLED, EXPIRED or DROPPED; 0 if none did
 */
public record Settled(Kind kind, long at, long successor) {

  /** No job waited for the end of this one. */
  public Settled(Kind kind, long at) {
    this(kind, at, 0);
  }

  /** The cases. */
  public enum Kind {
    /** Acked: the job is finished. */
    DONE,
    /** It had been acked before. */
    ALREADY_DONE,
    /** There is no such incarnation any more. */
    UNKNOWN,
    /** Not the holder of the lease any more; nothing changed. */
    LEASE_LOST,
    /** It waits for its next attempt. */
    RETRY,
    /** It is a dead letter now. */
    DEAD,
    /** It was to be cancelled, and is: it is not tried again. */
    CANCELLED,
    /** It is a dead letter now, since it could not start in time. */
    EXPIRED,
    /** It is gone, since it could not start in time and its queue drops such jobs. */
    DROPPED
  }
}
