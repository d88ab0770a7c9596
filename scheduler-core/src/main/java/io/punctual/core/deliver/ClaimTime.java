package io.punctual.core.deliver;

import io.punctual.core.Lateness;
import io.punctual.core.store.ClaimedJob;
import java.util.concurrent.TimeUnit;

/**
 * The time at which jobs were claimed.
 *
 * @param sent monotonic ns, before the call
 * @param stored epoch ms by the store's clock
 * @param openSince epoch ms since when the hours of the queue let jobs go out; 0 if it has none
 * @param roomFor for how many ns before the call there had been room for jobs of the bucket
 */
public record ClaimTime(long sent, long stored, long openSince, long roomFor) {

  /**
   * Returns from when on the attempt is late, in epoch ms: from the due time of the job or of the
   * retry, also if it was sent since then and no worker was reached.
   */
  public long lateSince(ClaimedJob job) {
    return Math.max(job.attemptDue(), earliest(job));
  }

  /** How late the attempt was when it was claimed, ms. */
  long late(ClaimedJob job) {
    return Math.max(0, stored - lateSince(job));
  }

  /** For how many ms a job could have gone out that was claimed then. */
  long waited(ClaimedJob job) {
    return Math.max(0, stored - Math.max(job.due(), earliest(job)));
  }

  // A job is not late before it was there, or while it must not go out.
  private long earliest(ClaimedJob job) {
    return Math.max(job.record().acceptedAt(), openSince);
  }

  /**
   * How late a job is that was claimed then.
   *
   * @param started monotonic ns, when it was on its way
   */
  public Lateness lateness(ClaimedJob job, long started) {
    long due = Math.max(job.due(), earliest(job));
    long first = lateSince(job);
    long waited = TimeUnit.MILLISECONDS.toNanos(waited(job));
    long scan = Math.min(waited, Math.max(0, roomFor));
    return new Lateness(
        TimeUnit.MILLISECONDS.toNanos(due - first),
        waited - scan,
        scan,
        Math.max(0, started - sent));
  }
}
