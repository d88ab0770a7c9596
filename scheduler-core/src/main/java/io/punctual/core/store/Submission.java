package io.punctual.core.store;

import io.punctual.core.job.Due;

/**
 * A job to be stored.
 *
 * @param incarnation made by the caller, new for each submission: 12 random characters of
 *     [A-Za-z0-9_-]
 * @param maxAttempts 1 or more; what the job's or its queue's retry policy said at this moment
 * @param content opaque to the store; equal content means the same job
 * @param replace whether a waiting or dead job with other content gives way
 */
public record Submission(
    String taskId, String incarnation, Due due, int maxAttempts, byte[] content, boolean replace) {

  /** Checks what the scripts rely on. */
  public Submission {
    if (!incarnation.matches("[A-Za-z0-9_-]{1,64}")) {
      throw new IllegalArgumentException(
          "an incarnation must be 1 to 64 characters of [A-Za-z0-9_-]");
    }
    if (maxAttempts < 1) {
      throw new IllegalArgumentException("maxAttempts must be 1 or more, not " + maxAttempts);
    }
  }
}
