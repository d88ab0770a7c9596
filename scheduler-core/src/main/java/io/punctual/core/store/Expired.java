package io.punctual.core.store;

import org.jspecify.annotations.Nullable;

/**
 * What an expire did.
 *
 * @param retried jobs that wait again
 * @param dead jobs that were out of attempts
 * @param cancelled jobs that were to be cancelled
 * @param nextDeadline the earliest lease deadline left, or null
 */
public record Expired(long now, int retried, int dead, int cancelled, @Nullable Long nextDeadline) {

  /** Where no job was to be cancelled. */
  public Expired(long now, int retried, int dead, @Nullable Long nextDeadline) {
    this(now, retried, dead, 0, nextDeadline);
  }
}
