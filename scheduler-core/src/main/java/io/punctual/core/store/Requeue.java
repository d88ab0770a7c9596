package io.punctual.core.store;

import io.punctual.core.job.JobVersion;
import org.jspecify.annotations.Nullable;

/**
 * A dead letter that shall run again.
 *
 * @param seen only if the job is still this version of itself; null for any
 */
public record Requeue(String taskId, @Nullable JobVersion seen) {

  /** That job, whichever version it is. */
  public static Requeue of(String taskId) {
    return new Requeue(taskId, null);
  }
}
