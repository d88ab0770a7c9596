package io.punctual.server.dispatch;

import org.jspecify.annotations.Nullable;

/**
 * The attempts of this scheduler that ended at one instance in the last 15 minutes.
 *
 * @param done how many did the job
 * @param failed how many failed, were rejected, or ended without an answer
 * @param donePerMinute jobs done a minute since the first attempt of that time
 * @param p99Ms 99 of 100 attempts took no longer, in ms; up to 42 % too high; null without attempts
 */
public record InstanceAttempts(long done, long failed, double donePerMinute, @Nullable Long p99Ms) {

  static final InstanceAttempts NONE = new InstanceAttempts(0, 0, 0, null);

  /** Returns how many ended. */
  public long ended() {
    return done + failed;
  }

  /** Returns the share of those that failed, in percent; 0 without attempts. */
  public double failedShare() {
    return ended() == 0 ? 0 : failed * 100.0 / ended();
  }
}
