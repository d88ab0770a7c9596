package io.punctual.systemtest;

/**
 * A call that made or changed a job, as its caller saw it.
 *
 * @param from when it was sent, epoch microseconds
 * @param until when its answer was there, epoch microseconds; {@link Long#MAX_VALUE} for none that
 *     was clear
 * @param due the due time that it gives the job, epoch ms; ignored for calls that give none
 * @param version of the content that it gives the job; ignored for calls that give none
 */
public record Change(Kind kind, long from, long until, Answer answer, long due, int version) {

  /** What a call is for. */
  public enum Kind {
    SUBMIT,
    REPLACE,
    REVISE,
    MOVE_LATER,
    MOVE_EARLIER,
    RUN_NOW,
    REQUEUE,
    CANCEL,
    CANCEL_BY_TAG;

    /** Whether it makes a job where there is none. */
    boolean creates() {
      return this == SUBMIT || this == REPLACE;
    }

    boolean givesContent() {
      return creates() || this == REVISE;
    }

    boolean givesDue() {
      return !cancels() && this != REVISE;
    }

    boolean cancels() {
      return this == CANCEL || this == CANCEL_BY_TAG;
    }
  }

  /** What the caller knows. */
  public enum Answer {
    /** The scheduler said that it is done. */
    ACKNOWLEDGED,
    /** The scheduler said that nothing was changed. */
    REFUSED,
    /** There was no answer, or none that says it: it may take effect at any time from its start. */
    UNKNOWN
  }

  boolean acknowledged() {
    return answer == Answer.ACKNOWLEDGED;
  }

  boolean unknown() {
    return answer == Answer.UNKNOWN;
  }

  /** Whether it was acknowledged by then. */
  boolean acknowledgedBy(long time) {
    return acknowledged() && until <= time;
  }
}
