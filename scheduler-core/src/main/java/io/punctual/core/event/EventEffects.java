package io.punctual.core.event;

import io.punctual.core.Operations.EventOutcome;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.Due;
import io.punctual.core.job.Ending;
import io.punctual.core.job.EventTags;
import io.punctual.core.job.JobRecord;
import io.punctual.core.job.JobState;
import io.punctual.core.job.JobVersion;
import io.punctual.core.store.Cancelled;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Revised;
import io.punctual.core.store.Revision;
import io.punctual.core.store.query.JobView;
import org.jspecify.annotations.Nullable;

/** Applies an event to a job that names it. */
public final class EventEffects {

  /** How often to try if others change the job at the same time. */
  private static final int TRIES = 8;

  private final JobStore jobs;

  public EventEffects(JobStore jobs) {
    this.jobs = jobs;
  }

  /**
   * What an event did to a job.
   *
   * @param due the new due time of DUE, epoch ms; else 0
   * @param version the job's version afterwards; null if it is gone
   * @param newHead the earliest due time of the bucket if it is that; else null
   */
  public record Effect(
      EventOutcome outcome, long due, @Nullable JobVersion version, @Nullable Long newHead) {}

  /**
   * Applies the event of a tag.
   *
   * @param tag of {@link EventTags}
   * @return null if the job does not wait for it, or not any more
   */
  public @Nullable Effect apply(Bucket bucket, String taskId, String tag) {
    return apply(bucket, jobs.find(bucket, taskId).orElse(null), tag);
  }

  /** The same, for a job as it was seen. */
  public @Nullable Effect apply(Bucket bucket, @Nullable JobView seen, String tag) {
    JobView job = seen;
    for (int i = 0; i < TRIES && job != null; i++) {
      JobRecord record = job.record();
      if (record == null || !record.tags().contains(tag)) {
        return null;
      }
      JobVersion version = new JobVersion(record.incarnation(), job.version());
      Effect effect =
          EventTags.cancels(tag) ? cancel(bucket, job, version, tag) : run(bucket, job, version);
      if (effect != null) {
        return effect;
      }
      job = jobs.find(bucket, job.taskId()).orElse(null);
    }
    return null;
  }

  private @Nullable Effect cancel(Bucket bucket, JobView job, JobVersion version, String tag) {
    Cancelled cancelled =
        jobs.cancel(
            bucket,
            job.taskId(),
            version,
            /* interrupt= */ true,
            Ending.EVENT + EventTags.event(tag));
    return switch (cancelled.kind()) {
      case CANCELLED -> new Effect(EventOutcome.CANCELLED, 0, null, null);
      case CANCELLING -> new Effect(EventOutcome.CANCELLING, 0, version, null);
      case IN_DELIVERY -> new Effect(EventOutcome.IN_DELIVERY, 0, version, null);
      case DEAD -> new Effect(EventOutcome.DEAD, 0, version, null);
      case CHANGED, FINISHED, UNKNOWN -> null;
    };
  }

  private @Nullable Effect run(Bucket bucket, JobView job, JobVersion version) {
    if (job.state() == JobState.RESERVED) {
      return new Effect(EventOutcome.IN_DELIVERY, 0, version, null);
    } else if (job.state() == JobState.DEAD) {
      return new Effect(EventOutcome.DEAD, 0, version, null);
    } else if (job.ready()) {
      return new Effect(EventOutcome.DUE, job.at(), version, null);
    }
    Revised revised = jobs.revise(bucket, job.taskId(), new Revision(Due.in(0), null, version));
    return revised.kind() == Revised.Kind.REVISED
        ? new Effect(EventOutcome.DUE, revised.due(), revised.version(), revised.newHead())
        : null;
  }
}
