package io.punctual.core;

/**
 * How late a job was when it first reached a worker, and what it waited for, in ns. Lateness counts
 * from the due time, the acceptance of the job, or the opening of its queue's hours, whichever was
 * last. Times up to the claim are by the store's clock, later ones by the monotonic clock.
 *
 * @param retry an earlier delivery reached no instance, or the job was given back or put off to its
 *     window
 * @param room waiting for a worker: all were busy or gone, or none asked for jobs; also while the
 *     queue was paused or at its limits, or no engine ran
 * @param scan the scanner had not reached the job
 * @param dispatch from the claim until the job was sent
 */
public record Lateness(long retry, long room, long scan, long dispatch) {

  /** All of it. */
  public long nanos() {
    return retry + room + scan + dispatch;
  }
}
