package io.punctual.core.store;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.Ending;
import io.punctual.core.job.JobState;
import io.punctual.core.job.JobVersion;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.job.Opening;
import io.punctual.core.job.Pause;
import io.punctual.core.job.Throttle;
import io.punctual.core.store.query.BucketStats;
import io.punctual.core.store.query.BucketUsage;
import io.punctual.core.store.query.Cursor;
import io.punctual.core.store.query.Forecast;
import io.punctual.core.store.query.JobView;
import io.punctual.core.store.query.Page;
import io.punctual.core.store.query.Stamps;
import io.punctual.core.store.query.Tagged;
import io.punctual.core.store.query.Undoable;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The state machine of one bucket after the other. Every method is one atomic transition; each may
 * be repeated after a lost answer and says so in its result. The store's clock is the only one.
 *
 * <p>At most {@value #MAX_JOBS} jobs a call; more is an {@link IllegalArgumentException}.
 *
 * <p>All methods throw {@link StoreException} when the store could not be reached or refused; for
 * writes it says whether the call may have taken effect.
 */
public interface JobStore {

  /** Most jobs in one call: keeps each script at a few milliseconds. */
  int MAX_JOBS = 200;

  /**
   * Most bytes of records in one claim, unless the first job alone has more. A claim of large jobs
   * ends early, and what is left is due.
   */
  int MAX_CLAIMED_BYTES = 1 << 20;

  /**
   * Returns the name of the store's node that holds a bucket, as this process knows it. Makes no
   * call.
   *
   * @return the same name for all buckets if there is one node
   */
  default String node(Bucket bucket) {
    return "";
  }

  /** Stores jobs, one answer each, in the order given. */
  Submitted submit(Bucket bucket, List<Submission> jobs);

  /**
   * Hands out what is due, earliest first.
   *
   * @param max 1 to {@link #MAX_JOBS}
   * @param lease how long the jobs are the caller's unless extended
   * @param token unguessable, new for each call
   * @param owner who holds the lease, for people; no spaces
   */
  Claim claim(
      Bucket bucket, int max, Duration lease, ClaimMode mode, LeaseToken token, String owner);

  /** Who claims, and how long the jobs are theirs. */
  enum ClaimMode {
    /**
     * An engine that runs jobs in its own process and keeps the lease alive. If the lease of a
     * suspect runs out, the attempt counts: the job may have ended that process.
     */
    PUSH,
    /**
     * An engine that sends jobs to other processes and keeps the lease alive. If the lease runs
     * out, no attempt counts: no job ended the engine.
     */
    SENT,
    /** Somebody who pulls: until the job's own time to run is over, else the lease. */
    OWN,
    /** Somebody who pulls: for the lease, whatever the jobs say. */
    GIVEN
  }

  /** Ends attempts, one answer each, in the order given. */
  List<Settled> settle(Bucket bucket, List<Settlement> settlements);

  /** Keeps leases alive. */
  Extended extend(Bucket bucket, List<Lease> leases, Duration lease);

  /**
   * What an extend found.
   *
   * @param lost ids of jobs that are not the caller's any more
   * @param cancelling ids of jobs whose attempts are to stop; they are still the caller's
   */
  record Extended(Set<String> lost, Set<String> cancelling) {}

  /**
   * Takes jobs back whose lease ran out.
   *
   * @param max at most so many, 1 to {@link #MAX_JOBS}
   * @param until only leases that ended by then, epoch ms by the store's clock
   * @param jump how the store's clock was set forward: leases that were claimed before run on for
   *     what was left of them
   */
  Expired expire(Bucket bucket, int max, long until, ClockJump jump);

  /** Takes jobs back whose lease ran out by a clock that is never set. */
  default Expired expire(Bucket bucket, int max) {
    return expire(bucket, max, Long.MAX_VALUE, ClockJump.NONE);
  }

  /**
   * Takes waiting jobs out whose last moment to start has passed by a second.
   *
   * @param max at most so many, 1 to {@link #MAX_JOBS}
   */
  Lapsed lapse(Bucket bucket, int max);

  /**
   * Waiting jobs whose last moment to start has passed.
   *
   * @param dead those that became dead letters
   * @param dropped those that are gone
   * @param more whether there may be more of them
   */
  record Lapsed(long now, int dead, int dropped, boolean more) {}

  /**
   * Cancels a job.
   *
   * @param seen only if the job is still this version of itself; null for any
   * @param interrupt whether the holder of a job that runs is told to stop; else it is left alone
   * @param by who cancels it, which its tombstone keeps as {@link Ending#by} does; null if not
   *     known
   * @param operation the id of the operation on many jobs of which this cancel is a part, so that
   *     {@link #undoable} finds the job; without spaces, null for none
   */
  Cancelled cancel(
      Bucket bucket,
      String taskId,
      @Nullable JobVersion seen,
      boolean interrupt,
      @Nullable String by,
      @Nullable String operation);

  /** Cancels a job by itself. */
  default Cancelled cancel(
      Bucket bucket,
      String taskId,
      @Nullable JobVersion seen,
      boolean interrupt,
      @Nullable String by) {
    return cancel(bucket, taskId, seen, interrupt, by, /* operation= */ null);
  }

  /** Cancels a job; by whom is not known. */
  default Cancelled cancel(
      Bucket bucket, String taskId, @Nullable JobVersion seen, boolean interrupt) {
    return cancel(bucket, taskId, seen, interrupt, /* by= */ null);
  }

  /** Cancels a job unless it runs. */
  default Cancelled cancel(Bucket bucket, String taskId, @Nullable JobVersion seen) {
    return cancel(bucket, taskId, seen, /* interrupt= */ false);
  }

  /**
   * Undoes a cancel: the job is as it was before, with its id, content, due time, tags and
   * attempts. If an attempt that was told to stop still has the job, the attempt may go on. A
   * submit that waited for the end of the job stays removed. A job that fell due meanwhile is due
   * now. For this, a bucket keeps its last cancelled jobs for some minutes, unless they are large:
   * {@link JobView#restorableUntil} says how long.
   *
   * @param operation the job is restored only if this operation cancelled it; null for any cancel
   */
  Restored restore(Bucket bucket, String taskId, @Nullable String operation);

  /** Undoes a cancel, whatever cancelled the job. */
  default Restored restore(Bucket bucket, String taskId) {
    return restore(bucket, taskId, /* operation= */ null);
  }

  /**
   * Lists what is kept of the jobs that an operation on many jobs cancelled.
   *
   * @param after where to go on; null for the beginning
   * @param max how many kept jobs are looked at, also those of other operations
   */
  Undoable undoable(Bucket bucket, String operation, @Nullable Cursor after, int max);

  /** Changes a waiting job. */
  Revised revise(Bucket bucket, String taskId, Revision revision);

  /** Gives dead letters a new life, one answer each, in the order given. */
  Requeued requeue(Bucket bucket, List<Requeue> jobs, Duration delay);

  /**
   * Removes jobs for good.
   *
   * @param state {@link JobState#DELAYED} or {@link JobState#DEAD}
   * @return how many were there and are gone
   */
  int purge(Bucket bucket, JobState state, List<String> taskIds);

  /** Looks at one job, or at the tombstone that it left. */
  Optional<JobView> find(Bucket bucket, String taskId);

  /**
   * Lists jobs of a state by due time, lease deadline or time of death, without their content. A
   * page may have fewer jobs than asked for though there are more, where jobs are large.
   *
   * @param state DELAYED, RESERVED or DEAD
   * @param newestFirst whether the latest time comes first; else the earliest
   * @param after where to go on; null for the beginning
   */
  Page list(Bucket bucket, JobState state, boolean newestFirst, @Nullable Cursor after, int max);

  /** Lists jobs of a state, the earliest first. */
  default Page list(Bucket bucket, JobState state, @Nullable Cursor after, int max) {
    return list(bucket, state, /* newestFirst= */ false, after, max);
  }

  /**
   * Lists the jobs that have a tag, whatever their state, by id, without their content.
   *
   * @param after the id behind which to go on; null for the beginning
   */
  Tagged tagged(Bucket bucket, String tag, @Nullable String after, int max);

  /**
   * Remembers an event of an application. From then on {@link #remembered} tells of it.
   *
   * @param event as one text, without spaces
   * @param memory for how long
   */
  void remember(String application, String event, Duration memory);

  /** Returns those among events of an application that are remembered. */
  Set<String> remembered(String application, Set<String> events);

  /**
   * Hands out nothing any more, or again. If both pauses of a bucket go on, both have to end. One
   * that goes on keeps its beginning and gets the new terms.
   *
   * @param scope which of its pauses
   * @param terms null resumes
   */
  Paused pause(Bucket bucket, Pause.Scope scope, Pause.@Nullable Terms terms);

  /** Pauses a bucket by itself until it is resumed, or resumes it. */
  default Paused pause(Bucket bucket, boolean paused) {
    return pause(bucket, Pause.Scope.QUEUE, paused ? Pause.Terms.NONE : null);
  }

  /**
   * Bounds how many jobs are out, by all schedulers together.
   *
   * @return the due time of the earliest job that waits; null if none does
   */
  @Nullable Long limit(Bucket bucket, Throttle throttle);

  /** Says whether jobs that could not start in time are dropped, or become dead letters. */
  void dropExpired(Bucket bucket, boolean drop);

  /**
   * Lets jobs be claimed in certain hours only, or at any time.
   *
   * @param hours a text that {@link Claim#hours} gives back; empty for any time
   * @return due time of the earliest job; null if there is none
   */
  @Nullable Long hours(Bucket bucket, String hours);

  /**
   * Keeps an opening of the hours, by which claims are decided from now on. Does nothing if the
   * bucket has other hours now.
   */
  void opening(Bucket bucket, String hours, Opening opening);

  /** Counts. */
  BucketStats stats(Bucket bucket);

  /**
   * Tells in which buckets something changed, at a small part of the cost of {@link #stats}.
   *
   * @param buckets 1 to {@link #MAX_JOBS}
   */
  Stamps stamps(List<Bucket> buckets);

  /** Returns the number of jobs and the memory that they take. */
  BucketUsage usage(Bucket bucket);

  /**
   * Counts the waiting jobs by due time.
   *
   * @param width of an interval, from 1 ms
   * @param intervals how many, from now on; 1 to {@link #MAX_JOBS}
   */
  Forecast forecast(Bucket bucket, Duration width, int intervals);
}
