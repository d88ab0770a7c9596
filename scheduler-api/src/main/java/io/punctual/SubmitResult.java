package io.punctual;

import java.time.Instant;

/**
 * The result of a submit. In each of these cases but {@link Outcome#ON_COMMIT} the job is, or was,
 * safely with the scheduler.
 *
 * @param taskId the job's id, also where the caller left it to us
 * @param dueAt when the job is due, by the scheduler's clock; for {@link Outcome#MERGED} when it is
 *     at the earliest, if it waits for the end of one that runs; for {@link Outcome#ALREADY_DONE}
 *     the time at which it finished; for {@link Outcome#ON_COMMIT} by this machine's clock, as if
 *     it had committed now
 * @param version the number of the job's last change: 1 for {@link Outcome#CREATED}, and larger
 *     with each replacement, move, attempt and so on; 0 for {@link Outcome#ALREADY_DONE} and {@link
 *     Outcome#ON_COMMIT}
 * @param durability where the job was when the scheduler answered: {@code redis} for what Redis is
 *     configured to, {@code synced} for its disk, {@code replicated:n} for n replicas; empty for
 *     {@link Outcome#ON_COMMIT}
 */
public record SubmitResult(
    String taskId, Instant dueAt, Outcome outcome, long version, String durability) {

  /** The cases. */
  public enum Outcome {
    /** A new job was stored. */
    CREATED,
    /** The same job was there already; nothing changed. */
    ALREADY_THERE,
    /** The same job ran a short while ago; it will not run again. */
    ALREADY_DONE,
    /** A waiting or dead job of that id was replaced, as asked. */
    REPLACED,
    /**
     * No new job was made, as asked: the submit was debounced, waits for the end of the job that
     * runs, or was dropped.
     */
    MERGED,
    /**
     * An event in the job's {@code cancelOn} came a short while ago: the job will not run. If it
     * was due at once and runs already, its attempt is told to stop.
     */
    CANCELLED_BY_EVENT,
    /**
     * The call was made inside of a transaction: the job is sent when that has committed, and never
     * if it is rolled back. The scheduler has not been asked yet.
     */
    ON_COMMIT
  }
}
