package io.punctual.core.store;

import io.punctual.CancelResult;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobState;
import io.punctual.core.queue.Bucket;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The façade over the scripts, and the check of the bounds that they rely on. */
final class RedisJobStore implements JobStore {

  private final SubmitScript submit;
  private final ClaimScript claim;
  private final SettleScript settle;
  private final ExtendScript extend;
  private final ExpireScript expire;
  private final CancelScript cancel;
  private final RescheduleScript reschedule;
  private final RequeueScript requeue;
  private final PurgeScript purge;
  private final FindScript find;
  private final ListScript list;
  private final StatsScript stats;

  RedisJobStore(ScriptRunner scripts, Duration tombstones) {
    submit = new SubmitScript(scripts);
    claim = new ClaimScript(scripts);
    settle = new SettleScript(scripts, tombstones);
    extend = new ExtendScript(scripts);
    expire = new ExpireScript(scripts);
    cancel = new CancelScript(scripts, tombstones);
    reschedule = new RescheduleScript(scripts);
    requeue = new RequeueScript(scripts);
    purge = new PurgeScript(scripts);
    find = new FindScript(scripts);
    list = new ListScript(scripts);
    stats = new StatsScript(scripts);
  }

  @Override
  public Submitted submit(Bucket bucket, List<Submission> jobs) {
    return submit.run(bucket, bounded(jobs));
  }

  @Override
  public Claim claim(Bucket bucket, int max, Duration lease, LeaseToken token, String owner) {
    if (!owner.matches("[!-~]{1,128}")) {
      throw new IllegalArgumentException(
          "the owner of a lease must be 1 to 128 printable characters without spaces");
    }
    return claim.run(bucket, bounded(max), positive(lease), token, owner);
  }

  @Override
  public List<Settled> settle(Bucket bucket, List<Settlement> settlements) {
    return settle.run(bucket, bounded(settlements));
  }

  @Override
  public Set<String> extend(Bucket bucket, List<Lease> leases, Duration lease) {
    return extend.run(bucket, bounded(leases), positive(lease));
  }

  @Override
  public Expired expire(Bucket bucket, int max) {
    return expire.run(bucket, bounded(max));
  }

  @Override
  public CancelResult cancel(Bucket bucket, String taskId) {
    return cancel.run(bucket, taskId);
  }

  @Override
  public Rescheduled reschedule(Bucket bucket, String taskId, Due due) {
    return reschedule.run(bucket, taskId, due);
  }

  @Override
  public Requeued requeue(Bucket bucket, List<String> taskIds, Duration delay) {
    return requeue.run(bucket, bounded(taskIds), delay);
  }

  @Override
  public Requeued requeueOldest(Bucket bucket, int max, Duration delay) {
    return requeue.runOldest(bucket, bounded(max), delay);
  }

  @Override
  public int purge(Bucket bucket, JobState state, List<String> taskIds) {
    return purge.run(bucket, state, bounded(taskIds));
  }

  @Override
  public int purgeOldest(Bucket bucket, JobState state, long before, int max) {
    return purge.runOldest(bucket, state, before, bounded(max));
  }

  @Override
  public Optional<JobSnapshot> find(Bucket bucket, String taskId) {
    return find.run(bucket, taskId);
  }

  @Override
  public Page list(Bucket bucket, JobState state, @Nullable Cursor after, int max) {
    return list.run(bucket, state, after, bounded(max));
  }

  @Override
  public BucketStats stats(Bucket bucket) {
    return stats.run(bucket);
  }

  private static <T> List<T> bounded(List<T> jobs) {
    if (jobs.size() > MAX_JOBS) {
      throw new IllegalArgumentException(
          "at most " + MAX_JOBS + " jobs a call, not " + jobs.size());
    }
    return jobs;
  }

  private static Duration positive(Duration lease) {
    if (lease.toMillis() < 1) {
      throw new IllegalArgumentException("a lease must be 1 ms or longer, not " + lease);
    }
    return lease;
  }

  private static int bounded(int max) {
    if (max < 1 || max > MAX_JOBS) {
      throw new IllegalArgumentException("between 1 and " + MAX_JOBS + " jobs a call, not " + max);
    }
    return max;
  }
}
