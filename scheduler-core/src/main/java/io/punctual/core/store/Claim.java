package io.punctual.core.store;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of a claim.
 *
 * @param pausedSince epoch ms since when nothing is handed out, or null
 * @param corrupt ids that had no record and were moved to the dead letters
 * @param full whether as many jobs are out as may be at once
 * @param held whether the rate holds back jobs that are due, until {@code nextDue}; false if full
 * @param closed whether it is outside of the bucket's hours
 * @param hours these, if it has to be found out when they begin, see {@link JobStore#opening}; else
 *     null
 * @param openSince epoch ms since when its hours let jobs go out; 0 if it has none, or is closed
 * @param nextDue when to claim next: the due time of the earliest job still waiting, or later if a
 *     bound says so, the bucket is closed, or paused until then; null for no job, and while paused
 *     without an end
 * @param nextDeadline the earliest lease deadline in the bucket, or null
 */
public record Claim(
    long now,
    List<ClaimedJob> jobs,
    List<String> corrupt,
    @Nullable Long nextDue,
    @Nullable Long nextDeadline,
    @Nullable Long pausedSince,
    boolean full,
    boolean held,
    boolean closed,
    @Nullable String hours,
    long openSince) {

  /** Of a bucket without hours, whose rate holds back no job. */
  public Claim(
      long now,
      List<ClaimedJob> jobs,
      List<String> corrupt,
      @Nullable Long nextDue,
      @Nullable Long nextDeadline,
      @Nullable Long pausedSince,
      boolean full) {
    this(now, jobs, corrupt, nextDue, nextDeadline, pausedSince, full, false, false, null, 0);
  }

  /** The same with fewer jobs. */
  public Claim with(List<ClaimedJob> fewer) {
    return with(fewer, nextDue);
  }

  /** The same, but that the next claim is made no sooner than so many ms from its now. */
  public Claim notWithin(long wait) {
    return with(jobs, nextDue == null ? null : Long.valueOf(Math.max(nextDue, now + wait)));
  }

  private Claim with(List<ClaimedJob> these, @Nullable Long next) {
    return new Claim(
        now, these, corrupt, next, nextDeadline, pausedSince, full, held, closed, hours, openSince);
  }
}
