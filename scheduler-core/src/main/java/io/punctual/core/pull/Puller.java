package io.punctual.core.pull;

import io.punctual.core.ClaimToken;
import io.punctual.core.PullRequest;
import io.punctual.core.PulledJob;
import io.punctual.core.QueueListener;
import io.punctual.core.deliver.ClaimTime;
import io.punctual.core.deliver.Claimer;
import io.punctual.core.deliver.RetryDelays;
import io.punctual.core.deliver.Settler;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.CorruptContentException;
import io.punctual.core.job.JobContent;
import io.punctual.core.store.Claim;
import io.punctual.core.store.ClaimedJob;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.query.JobView;
import io.punctual.core.wake.WakeSignal;
import io.punctual.core.work.Context;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Claims jobs of one bucket for those who pull. */
public final class Puller {

  public final Bucket bucket;
  public final WakeSignal signal;
  public final Settler settler;
  private final RetryDelays retryDelays;
  public final ReceivedMarks received;
  private final Claimer claimer;
  private final QueueListener listener;

  public Puller(
      Bucket bucket,
      Context context,
      WakeSignal signal,
      Claimer claimer,
      Settler settler,
      RetryDelays retryDelays,
      QueueListener listener) {
    this.bucket = bucket;
    this.signal = signal;
    this.claimer = claimer;
    this.settler = settler;
    this.retryDelays = retryDelays;
    this.received = new ReceivedMarks(bucket, context);
    this.listener = listener;
  }

  /** The marks of received jobs that are to be written. */
  public ReceivedMarks received() {
    return received;
  }

  /** Whether the bucket was paused when it was last claimed from or looked at. */
  boolean isPaused() {
    return claimer.isPaused();
  }

  /** The wait after a failure; null if the next attempt could not start in time. */
  @Nullable Duration delayAfterFailure(JobView job, JobContent content, @Nullable Duration wish) {
    Duration wait = retryDelays.delayAfterFailure(content, job.tries().counted(), wish);
    return job.record() == null
        ? wait
        : retryDelays.inTime(job.taskId(), content, job.record(), wait);
  }

  /** Claims at most so many on the terms of the request. */
  public Claim claim(PullRequest request, int max) {
    return claimer.claim(max, request.lease(), request.mode(), request.owner());
  }

  /** What was claimed, as the puller gets it; what cannot be read becomes a dead letter. */
  public List<PulledJob> open(Claim claim, ClaimTime claimed, PullRequest request) {
    List<PulledJob> open = new ArrayList<>(claim.jobs().size());
    for (ClaimedJob job : claim.jobs()) {
      long own = job.record().timeToRun();
      long time =
          request.mode() == JobStore.ClaimMode.OWN && own > 0 ? own : request.lease().toMillis();
      try {
        open.add(
            new PulledJob(
                new ClaimToken(
                    bucket.queue(), job.taskId(), job.record().incarnation(), job.token()),
                job.attempt(),
                job.version(),
                job.dueTime(),
                claimed.lateSince(job),
                claim.now() + time,
                time,
                job.record().read()));
      } catch (CorruptContentException e) {
        claimer.bury(job, e);
      }
    }
    return open;
  }

  /** They are with whoever asked for them. */
  public void handedOut(Claim claim, ClaimTime time) {
    for (ClaimedJob job : claim.jobs()) {
      if (job.attempt() == 1) {
        listener.delivered(time.lateness(job, time.sent()));
      }
    }
  }

  /** Nobody wants these any more: they wait again, untried. */
  public void giveBack(Claim claim) {
    for (ClaimedJob job : claim.jobs()) {
      var unused = settler.keep(retryDelays.returned(job));
    }
  }
}
