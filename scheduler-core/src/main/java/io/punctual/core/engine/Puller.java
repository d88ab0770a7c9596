package io.punctual.core.engine;

import io.punctual.core.job.CorruptContentException;
import io.punctual.core.queue.Bucket;
import io.punctual.core.queue.LogFields;
import io.punctual.core.store.Claim;
import io.punctual.core.store.ClaimedJob;
import io.punctual.core.store.JobStore;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Claims jobs of one bucket for those who pull. */
final class Puller {

  private static final Logger log = LoggerFactory.getLogger(Puller.class);

  private final Bucket bucket;
  private final Claimer claimer;
  private final Settler settler;
  private final Endings endings;
  private final QueueListener listener;

  Puller(Bucket bucket, Claimer claimer, Settler settler, Endings endings, QueueListener listener) {
    this.bucket = bucket;
    this.claimer = claimer;
    this.settler = settler;
    this.endings = endings;
    this.listener = listener;
  }

  /** Whether the bucket was paused when it was last claimed from or looked at. */
  boolean isPaused() {
    return claimer.isPaused();
  }

  /** Claims at most so many on the terms of the request. */
  Claim claim(PullRequest request, int max) {
    return claimer.claim(max, request.lease(), request.mode(), request.owner());
  }

  /** What was claimed, as the puller gets it; what cannot be read becomes a dead letter. */
  List<PulledJob> open(Claim claim, PullRequest request) {
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
                claim.now() + time,
                time,
                Origins.content(job.record())));
      } catch (CorruptContentException e) {
        bury(job, e);
      }
    }
    return open;
  }

  /** They are with whoever asked for them. */
  void handedOut(Claim claim, ClaimTime time) {
    for (ClaimedJob job : claim.jobs()) {
      if (job.attempt() == 1) {
        listener.delivered(time.lateness(job, time.sent()));
      }
    }
  }

  /** Makes a dead letter of a job whose content cannot be read. */
  void bury(ClaimedJob job, CorruptContentException e) {
    LogFields.of(log.atError(), bucket.queue(), job.taskId())
        .log(
            "{}: what is stored of job {} cannot be read: {}",
            bucket,
            job.taskId(),
            e.getMessage());
    Note note = new Note("", String.valueOf(e.getMessage()));
    var unused = settler.keep(endings.rejected(job, note));
  }

  /** Nobody wants these any more: they wait again, untried. */
  void giveBack(Claim claim) {
    for (ClaimedJob job : claim.jobs()) {
      var unused = settler.keep(endings.returned(job));
    }
  }
}
