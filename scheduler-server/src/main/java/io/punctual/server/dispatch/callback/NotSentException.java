package io.punctual.server.dispatch.callback;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Nothing ran at the instance: another one may be tried at once, and no attempt is used up. */
public final class NotSentException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** What it says about the instance. */
  public enum Scope {
    /** Better send it no job for a while. */
    INSTANCE,
    /** Better send it no job of this task type for a while. */
    TASK_TYPE,
    /** Nothing: a lease was over before the jobs were sent. */
    LEASE
  }

  private final String reason;
  private final Scope scope;
  private final Duration avoid;

  private NotSentException(String reason, Scope scope, Duration avoid, @Nullable Throwable cause) {
    super(reason, cause);
    this.reason = reason;
    this.scope = scope;
    this.avoid = avoid;
  }

  /**
   * Creates one that speaks of the whole instance.
   *
   * @param avoid how long to send it no job
   */
  static NotSentException byInstance(String reason, Duration avoid, @Nullable Throwable cause) {
    return new NotSentException(reason, Scope.INSTANCE, avoid, cause);
  }

  /**
   * Creates one that speaks of one task type at the instance.
   *
   * @param avoid how long to send it no job of that type
   */
  static NotSentException byType(String reason, Duration avoid) {
    return new NotSentException(reason, Scope.TASK_TYPE, avoid, null);
  }

  /** Creates one for a call that was given up before it was sent, since a lease was over. */
  static NotSentException byLease() {
    return new NotSentException(
        "the lease was over before the job was sent", Scope.LEASE, Duration.ZERO, null);
  }

  public String reason() {
    return reason;
  }

  public Scope scope() {
    return scope;
  }

  /** How long the instance, or the type at it, is better avoided. */
  public Duration avoid() {
    return avoid;
  }
}
