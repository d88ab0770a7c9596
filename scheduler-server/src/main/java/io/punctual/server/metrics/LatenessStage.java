package io.punctual.server.metrics;

import io.micrometer.core.instrument.Tags;
import io.punctual.core.Lateness;
import io.punctual.core.job.QueueName;
import java.util.Locale;

/**
 * The reasons for which late jobs waited, in their order. Both the metric and the console take the
 * stages from here.
 */
public enum LatenessStage {
  /** An earlier delivery reached no instance, or the job was given back or put off. */
  RETRY,
  /**
   * Jobs waited for a worker: all were busy or gone, or none asked for jobs. The queue may also
   * have been paused or at its limits.
   */
  ROOM,
  /** The scanner had not reached the job. */
  SCAN,
  /** From the claim until the job was sent. */
  DISPATCH;

  /** The name of the metric. */
  static final String METRIC = "punctual.jobs.lateness.stage";

  /** Its part of a job's lateness, in ns. */
  long of(Lateness late) {
    return switch (this) {
      case RETRY -> late.retry();
      case ROOM -> late.room();
      case SCAN -> late.scan();
      case DISPATCH -> late.dispatch();
    };
  }

  /** Its name in the metric and in the keys of texts. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The tags of its metric. */
  Tags tags(QueueName queue) {
    return QueueTags.tags(queue).and("stage", word());
  }
}
