package io.punctual.core.store;

import org.jspecify.annotations.Nullable;

/** The store could not do what was asked. */
public class StoreException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final Kind kind;

  /** The cases that callers treat differently. */
  public enum Kind {
    /** Not reached, or the answer was lost: the call may have taken effect. Repeat it. */
    UNREACHABLE,
    /**
     * Done, but replicas or the disk did not confirm it in time: a fail-over or a crash may forget
     * it. Repeat it, until it is confirmed.
     */
    UNCONFIRMED,
    /** Out of memory, read-only, loading, busy: refused, nothing was changed. Try later. */
    REFUSED,
    /**
     * A key of the bucket has a foreign type: refused, nothing was changed. An operator must act.
     */
    CORRUPT,
    /** Beyond a bound of our own: refused, nothing was changed, and a repetition will not help. */
    EXCESSIVE
  }

  /**
   * @param message what was tried on which bucket, and what the store said
   */
  public StoreException(Kind kind, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.kind = kind;
  }

  /**
   * @param message what was tried, and why it was refused
   */
  public StoreException(Kind kind, String message) {
    super(message);
    this.kind = kind;
  }

  /** How to go on. */
  public Kind kind() {
    return kind;
  }
}
