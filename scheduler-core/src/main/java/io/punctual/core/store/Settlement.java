package io.punctual.core.store;

import io.punctual.core.job.Ending;
import io.punctual.core.job.JobRecord;
import io.punctual.core.job.LeaseToken;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The end of one attempt.
 *
 * @param delay wait before the next attempt, for FAILED, UNKNOWN, UNDELIVERABLE and RELEASED; null
 *     if there is none, since it could not start in time
 * @param alone whether the attempt travelled alone, for UNKNOWN: only then it counts to the limit
 * @param note what went wrong, opaque to the store, at most 2 kB; empty for DONE, RELEASED,
 *     RETURNED and EXPIRED
 * @param record of the job, for DONE, where the caller has it: the store need not read it then
 * @param ending how the job ended, for DONE with a record; null if that is not known. Without a
 *     record the store takes it from the lease, if the token is that of the lease
 */
public record Settlement(
    Op op,
    String taskId,
    String incarnation,
    LeaseToken token,
    @Nullable Duration delay,
    boolean alone,
    byte[] note,
    @Nullable JobRecord record,
    @Nullable Ending ending) {

  /** Longest note, in bytes. */
  public static final int MAX_NOTE = 2048;

  /** By a caller that does not know the record. */
  public Settlement(
      Op op,
      String taskId,
      String incarnation,
      LeaseToken token,
      @Nullable Duration delay,
      boolean alone,
      byte[] note) {
    this(op, taskId, incarnation, token, delay, alone, note, null, null);
  }

  /** Checks what the scripts rely on. */
  public Settlement {
    if (delay != null && delay.isNegative()) {
      throw new IllegalArgumentException("a delay must not be negative, was " + delay);
    }
    if (note.length > MAX_NOTE) {
      throw new IllegalArgumentException(
          "a note must have at most " + MAX_NOTE + " bytes, not " + note.length);
    }
  }

  /** The cases; their rules stand in docs/state-machine.md. */
  public enum Op {
    /** Done. */
    DONE,
    /** The worker said that it failed. */
    FAILED,
    /** Nobody knows how it ended. */
    UNKNOWN,
    /** Nothing ran. */
    UNDELIVERABLE,
    /** The holder gave it back without a try: it waits for the delay. */
    RELEASED,
    /** It never reached a worker: it waits at the due time that it had. */
    RETURNED,
    /** Never again. */
    REJECTED,
    /** No worker got it, since it could not start in time. */
    EXPIRED
  }
}
