package io.punctual.core.store;

import org.jspecify.annotations.Nullable;

/**
 * The result of an expire.
 *
 * @param retried jobs that wait again
 * @param dead jobs that were out of attempts
 * @param cancelled jobs whose attempts had been told to stop
 * @param nextDeadline the earliest lease deadline left, or null
 */
public record Expired(long now, int retried, int dead, int cancelled, @Nullable Long nextDeadline) {

  /** Without cancelled jobs. */
  public Expired(long now, int retried, int dead, @Nullable Long nextDeadline) {
    this(now, retried, dead, 0, nextDeadline);
  }
}
