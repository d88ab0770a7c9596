package io.punctual.core.schedule;

import io.punctual.core.job.QueueName;
import io.punctual.wire.Limits;
import java.time.Instant;

/**
 * Names a schedule.
 *
 * @param queue of its jobs
 * @param id at most {@link Limits#MAX_SCHEDULE_ID} characters, so that its jobs' ids fit
 */
public record ScheduleName(QueueName queue, String id) {

  /**
   * Checks the id.
   *
   * @throws IllegalArgumentException if it is none
   */
  public ScheduleName {
    if (!Limits.isName(id) || id.length() > Limits.MAX_SCHEDULE_ID) {
      throw new IllegalArgumentException(
          "id must be 1 to " + Limits.MAX_SCHEDULE_ID + " characters of [A-Za-z0-9._:-]");
    }
  }

  /** Returns the id of the job that runs at a planned instant. No other submit can have it. */
  public String taskId(Instant planned) {
    return id + "@" + planned;
  }

  @Override
  public String toString() {
    return queue + "/" + id;
  }
}
