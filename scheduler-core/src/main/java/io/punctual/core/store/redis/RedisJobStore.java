package io.punctual.core.store.redis;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.JobState;
import io.punctual.core.job.JobVersion;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.job.Throttle;
import io.punctual.core.store.Cancelled;
import io.punctual.core.store.Claim;
import io.punctual.core.store.ClockJump;
import io.punctual.core.store.Expired;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Lease;
import io.punctual.core.store.Paused;
import io.punctual.core.store.Requeue;
import io.punctual.core.store.Requeued;
import io.punctual.core.store.Revised;
import io.punctual.core.store.Revision;
import io.punctual.core.store.Settled;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.Submission;
import io.punctual.core.store.Submitted;
import io.punctual.core.store.query.BucketStats;
import io.punctual.core.store.query.BucketUsage;
import io.punctual.core.store.query.Cursor;
import io.punctual.core.store.query.Forecast;
import io.punctual.core.store.query.JobSnapshot;
import io.punctual.core.store.query.Page;
import io.punctual.core.store.query.Tagged;
import io.punctual.core.store.redis.script.ScriptRunner;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The façade over the scripts, and the check of the bounds that they rely on. */
final class RedisJobStore implements JobStore {

  private static final Pattern OWNER = Pattern.compile("[!-~]{1,128}");

  private final ScriptRunner scripts;
  private final SubmitScript submit;
  private final ClaimScript claim;
  private final SettleScript settle;
  private final ExtendScript extend;
  private final ExpireScript expire;
  private final CancelScript cancel;
  private final ReviseScript revise;
  private final RequeueScript requeue;
  private final PurgeScript purge;
  private final FindScript find;
  private final ListScript list;
  private final TaggedScript tagged;
  private final PauseScript pause;
  private final LimitScript limit;
  private final StatsScript stats;
  private final UsageScript usage;
  private final ForecastScript forecast;

  RedisJobStore(ScriptRunner scripts, Duration tombstones) {
    this.scripts = scripts;
    submit = new SubmitScript(scripts);
    claim = new ClaimScript(scripts);
    settle = new SettleScript(scripts, tombstones);
    extend = new ExtendScript(scripts);
    expire = new ExpireScript(scripts);
    cancel = new CancelScript(scripts, tombstones);
    revise = new ReviseScript(scripts);
    requeue = new RequeueScript(scripts);
    purge = new PurgeScript(scripts);
    find = new FindScript(scripts);
    list = new ListScript(scripts);
    tagged = new TaggedScript(scripts);
    pause = new PauseScript(scripts);
    limit = new LimitScript(scripts);
    stats = new StatsScript(scripts);
    usage = new UsageScript(scripts);
    forecast = new ForecastScript(scripts);
  }

  @Override
  public String node(Bucket bucket) {
    return scripts.node(bucket);
  }

  @Override
  public Submitted submit(Bucket bucket, List<Submission> jobs) {
    return submit.run(bucket, bounded(jobs));
  }

  @Override
  public Claim claim(
      Bucket bucket, int max, Duration lease, ClaimMode mode, LeaseToken token, String owner) {
    if (!OWNER.matcher(owner).matches()) {
      throw new IllegalArgumentException(
          "the owner of a lease must be 1 to 128 printable characters without spaces");
    }
    return claim.run(bucket, bounded(max), positive(lease), mode, token, owner);
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
  public Expired expire(Bucket bucket, int max, long until, ClockJump jump) {
    return expire.run(bucket, bounded(max), until, jump);
  }

  @Override
  public Cancelled cancel(Bucket bucket, String taskId, @Nullable JobVersion seen) {
    return cancel.run(bucket, taskId, seen);
  }

  @Override
  public Revised revise(Bucket bucket, String taskId, Revision revision) {
    return revise.run(bucket, taskId, revision);
  }

  @Override
  public Requeued requeue(Bucket bucket, List<Requeue> jobs, Duration delay) {
    return requeue.run(bucket, bounded(jobs), delay);
  }

  @Override
  public int purge(Bucket bucket, JobState state, List<String> taskIds) {
    return purge.run(bucket, state, bounded(taskIds));
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
  public Tagged tagged(Bucket bucket, String tag, @Nullable String after, int max) {
    return tagged.run(bucket, tag, after, bounded(max));
  }

  @Override
  public Paused pause(Bucket bucket, boolean paused) {
    return pause.run(bucket, paused);
  }

  @Override
  public @Nullable Long limit(Bucket bucket, Throttle throttle) {
    return limit.run(bucket, throttle);
  }

  @Override
  public BucketStats stats(Bucket bucket) {
    return stats.run(bucket);
  }

  @Override
  public BucketUsage usage(Bucket bucket) {
    return usage.run(bucket);
  }

  @Override
  public Forecast forecast(Bucket bucket, Duration width, int intervals) {
    return forecast.run(bucket, positive(width), bounded(intervals));
  }

  private static <T> List<T> bounded(List<T> jobs) {
    if (jobs.size() > MAX_JOBS) {
      throw new IllegalArgumentException(
          "at most " + MAX_JOBS + " jobs a call, not " + jobs.size());
    }
    return jobs;
  }

  private static Duration positive(Duration duration) {
    if (duration.toMillis() < 1) {
      throw new IllegalArgumentException("a duration must be 1 ms or longer, not " + duration);
    }
    return duration;
  }

  private static int bounded(int max) {
    if (max < 1 || max > MAX_JOBS) {
      throw new IllegalArgumentException("between 1 and " + MAX_JOBS + " jobs a call, not " + max);
    }
    return max;
  }
}
