package io.punctual.core.engine;

import io.punctual.core.job.JobState;
import io.punctual.core.queue.Bucket;
import io.punctual.core.store.BucketStats;
import io.punctual.core.store.Cancelled;
import io.punctual.core.store.Claim;
import io.punctual.core.store.Cursor;
import io.punctual.core.store.Expired;
import io.punctual.core.store.Forecast;
import io.punctual.core.store.JobRecord;
import io.punctual.core.store.JobSnapshot;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Lease;
import io.punctual.core.store.LeaseToken;
import io.punctual.core.store.Page;
import io.punctual.core.store.Paused;
import io.punctual.core.store.Requeued;
import io.punctual.core.store.Restoration;
import io.punctual.core.store.Restored;
import io.punctual.core.store.Revised;
import io.punctual.core.store.Revision;
import io.punctual.core.store.Settled;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.Submission;
import io.punctual.core.store.Submitted;
import io.punctual.core.store.Tagged;
import io.punctual.core.store.Throttle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Takes a receipt of all that the store has answered to those who rely on it. */
final class ReceiptKeeper implements JobStore {

  private final JobStore jobs;
  private final Receipts receipts;

  ReceiptKeeper(JobStore jobs, Receipts receipts) {
    this.jobs = jobs;
    this.receipts = receipts;
  }

  @Override
  public Submitted submit(Bucket bucket, List<Submission> submissions) {
    Submitted submitted = jobs.submit(bucket, submissions);
    if (receipts.areKept()) {
      long content = 0;
      for (Submission job : submissions) {
        content += job.content().length;
      }
      receipts.add(bucket, submissions.size(), content, () -> stored(submissions, submitted));
    }
    return submitted;
  }

  private static List<Restoration> stored(List<Submission> submissions, Submitted submitted) {
    List<Restoration> stored = new ArrayList<>(submissions.size());
    for (int i = 0; i < submissions.size(); i++) {
      Submission job = submissions.get(i);
      Submitted.Item item = submitted.items().get(i);
      if (item.kind() == Submitted.Kind.CREATED || item.kind() == Submitted.Kind.REPLACED) {
        stored.add(
            Restoration.waiting(
                Restoration.Kind.WAITING,
                job.taskId(),
                item.due(),
                new JobRecord(
                    job.incarnation(),
                    job.maxAttempts(),
                    submitted.now(),
                    job.timeToRun(),
                    job.tags(),
                    job.content())));
      }
    }
    return stored;
  }

  @Override
  public List<Settled> settle(Bucket bucket, List<Settlement> settlements) {
    List<Settled> settled = jobs.settle(bucket, settlements);
    if (receipts.areKept()) {
      receipts.add(bucket, settlements.size(), 0, () -> done(settlements, settled));
    }
    return settled;
  }

  private static List<Restoration> done(List<Settlement> settlements, List<Settled> settled) {
    List<Restoration> done = new ArrayList<>(settlements.size());
    for (int i = 0; i < settlements.size(); i++) {
      if (settled.get(i).kind() == Settled.Kind.DONE) {
        Settlement ack = settlements.get(i);
        done.add(
            Restoration.ended(
                Restoration.Kind.DONE, ack.taskId(), ack.incarnation(), settled.get(i).at()));
      }
    }
    return done;
  }

  @Override
  public Cancelled cancel(Bucket bucket, String taskId) {
    Cancelled cancelled = jobs.cancel(bucket, taskId);
    String incarnation = cancelled.incarnation();
    if (incarnation != null) {
      take(
          bucket,
          Restoration.ended(Restoration.Kind.CANCELLED, taskId, incarnation, cancelled.now()));
    }
    return cancelled;
  }

  @Override
  public Revised revise(Bucket bucket, String taskId, Revision revision) {
    Revised revised = jobs.revise(bucket, taskId, revision);
    JobRecord job = revised.job();
    if (job != null) {
      take(bucket, Restoration.waiting(Restoration.Kind.CHANGED, taskId, revised.due(), job));
    }
    return revised;
  }

  private void take(Bucket bucket, Restoration restoration) {
    JobRecord job = restoration.job();
    receipts.add(bucket, 1, job == null ? 0 : job.content().length, () -> List.of(restoration));
  }

  @Override
  public Claim claim(
      Bucket bucket, int max, Duration lease, ClaimMode mode, LeaseToken token, String owner) {
    return jobs.claim(bucket, max, lease, mode, token, owner);
  }

  @Override
  public Set<String> extend(Bucket bucket, List<Lease> leases, Duration lease) {
    return jobs.extend(bucket, leases, lease);
  }

  @Override
  public Expired expire(Bucket bucket, int max) {
    return jobs.expire(bucket, max);
  }

  @Override
  public Restored restore(Bucket bucket, List<Restoration> restorations) {
    return jobs.restore(bucket, restorations);
  }

  @Override
  public Requeued requeue(Bucket bucket, List<String> taskIds, Duration delay) {
    return jobs.requeue(bucket, taskIds, delay);
  }

  @Override
  public Requeued requeueOldest(Bucket bucket, int max, Duration delay) {
    return jobs.requeueOldest(bucket, max, delay);
  }

  @Override
  public int purge(Bucket bucket, JobState state, List<String> taskIds) {
    receipts.drop(bucket, taskIds);
    return jobs.purge(bucket, state, taskIds);
  }

  @Override
  public int purgeOldest(Bucket bucket, JobState state, long before, int max) {
    // Whichever these are: what was purged must not come back.
    receipts.dropAll(bucket);
    return jobs.purgeOldest(bucket, state, before, max);
  }

  @Override
  public Optional<JobSnapshot> find(Bucket bucket, String taskId) {
    return jobs.find(bucket, taskId);
  }

  @Override
  public Page list(Bucket bucket, JobState state, @Nullable Cursor after, int max) {
    return jobs.list(bucket, state, after, max);
  }

  @Override
  public Tagged tagged(Bucket bucket, String tag, @Nullable String after, int max) {
    return jobs.tagged(bucket, tag, after, max);
  }

  @Override
  public Paused pause(Bucket bucket, boolean paused) {
    return jobs.pause(bucket, paused);
  }

  @Override
  public @Nullable Long limit(Bucket bucket, Throttle throttle) {
    return jobs.limit(bucket, throttle);
  }

  @Override
  public BucketStats stats(Bucket bucket) {
    return jobs.stats(bucket);
  }

  @Override
  public Forecast forecast(Bucket bucket, Duration width, int intervals) {
    return jobs.forecast(bucket, width, intervals);
  }
}
