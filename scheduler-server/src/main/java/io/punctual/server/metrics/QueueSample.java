package io.punctual.server.metrics;

import io.punctual.core.QueueStats;
import io.punctual.core.job.QueueName;

/**
 * A queue at one look, with what the looks of the last minute add.
 *
 * @param minute how the counters grew since the first look of the last minute
 * @param recent how they grew since the look before
 * @param instances how many registered instances take its jobs
 * @param circuitOpen whether its jobs wait since all that this scheduler sent failed
 * @param pulled whether workers have fetched its jobs lately
 */
public record QueueSample(
    QueueStats stats,
    Growth minute,
    Growth recent,
    int instances,
    boolean circuitOpen,
    boolean pulled) {

  /** Returns the name of the queue. */
  public QueueName queue() {
    return stats.queue();
  }

  /** Returns a rate of the last seconds. */
  public double rate(String counter) {
    return recent.perSecond(counter);
  }

  /** Returns the value of a counter since the queue was made. */
  public long count(String counter) {
    return stats.counters().getOrDefault(counter, 0L);
  }

  /**
   * Returns for how many ms the oldest job that is due has waited; 0 if none is due. The time
   * before the queue's hours began does not count once they have.
   */
  public long readyAge() {
    Long oldest = stats.oldestReady();
    if (oldest == null) {
      return 0;
    }
    Long open = stats.openSince();
    return Math.max(0, stats.now() - (open == null ? oldest : Math.max(oldest, open)));
  }

  /** Returns whether the figures are not those of the whole queue. */
  public boolean damaged() {
    return stats.isDamaged();
  }

  /** Returns whether an operator paused the queue. */
  public boolean paused() {
    return stats.pausedSince() != null;
  }

  /** Returns whether it is outside of the queue's hours. */
  public boolean closed() {
    return stats.closedUntil() != null;
  }

  /**
   * Returns whether jobs are due and neither an instance nor a pulling worker takes them, within
   * the queue's hours.
   */
  public boolean parked() {
    return stats.parked() && !pulled && !closed();
  }

  /** Returns how many attempts ended in the last minute. */
  public long attempts() {
    return minute.count("done") + failedAttempts();
  }

  /** Returns how many attempts of the last minute failed or ended without an answer. */
  public long failedAttempts() {
    return minute.count("failed", "rejected", "unknown", "expired");
  }

  /** Returns the share of failed attempts in the last minute, in percent, rounded down. */
  public long failedPercent() {
    return attempts() == 0 ? 0 : failedAttempts() * 100 / attempts();
  }
}
