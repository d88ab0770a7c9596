package io.punctual.core.store;

import io.punctual.core.job.AttemptCounts;
import io.punctual.core.job.JobRecord;
import io.punctual.core.job.LeaseToken;

/**
 * A job that the caller may work on until its lease ends.
 *
 * @param due epoch ms from which on it could be claimed
 * @param attempt counted from 1
 */
public record ClaimedJob(
    String taskId, long due, int attempt, JobRecord record, AttemptCounts tries, LeaseToken token) {

  /** The number of this claim among the job's changes. */
  public long version() {
    return tries.version() + 1;
  }

  /** Returns when this attempt first fell due, epoch ms. */
  public long attemptDue() {
    // The store's clock may have been set back since.
    return tries.attemptDue() == 0 ? due : Math.min(due, tries.attemptDue());
  }

  /** Epoch ms at which the job was due at first, before anything went wrong. */
  public long dueTime() {
    return tries.version() > 1 ? tries.firstDue() : due;
  }
}
