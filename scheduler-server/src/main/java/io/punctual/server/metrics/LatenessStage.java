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
  /** No instance was there when the job was sent before. */
  RETRY,
  /** No worker was there, had room or asked, or the queue was paused or at its limits. */
  ROOM,
  /** Its scanner had not come to it. */
  SCAN,
  /** From the claim until it was on its way. */
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
