package io.punctual.server.metrics;

import io.punctual.core.QueueStats;
import io.punctual.core.job.Pause;
import io.punctual.core.job.QueueName;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A queue at one look, with what the looks of the last minute add.
 *
 * @param minute how the counters grew since the first look of the last minute
 * @param quarter the same of the last 15 minutes
 * @param recent how they grew since the look before
 * @param instances how many registered instances take its jobs
 * @param circuitOpen whether its jobs wait since all that this scheduler sent failed
 * @param pulled whether workers have fetched its jobs lately
 * @param error the most frequent one of the last failures at this scheduler; null if none is known
 */
public record QueueSample(
    QueueStats stats,
    Growth minute,
    Growth quarter,
    Growth recent,
    int instances,
    boolean circuitOpen,
    boolean pulled,
    RecentErrors.@Nullable Common error) {

  /** A queue is failing from this share of failed attempts on, in percent. */
  public static final int FAILING_PERCENT = 10;

  /** Fewer attempts than these prove nothing. */
  public static final int FAILING_ATTEMPTS = 20;

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

  /** Returns whether the queue or its application is paused. */
  public boolean paused() {
    return !stats.pauses().isEmpty();
  }

  /** Returns for how many ms it has been paused; 0 if it is not. */
  public long pausedAge() {
    Long since = stats.pausedSince();
    return since == null ? 0 : Math.max(0, stats.now() - since);
  }

  /** Returns who paused, since when, until when and why. */
  public static String text(Pause pause) {
    return (pause.scope() == Pause.Scope.APPLICATION ? "with its application " : "")
        + (pause.by().isEmpty() ? "" : "by " + pause.by() + " ")
        + "since "
        + Instant.ofEpochMilli(pause.since())
        + (pause.until() == null ? "" : " until " + Instant.ofEpochMilli(pause.until()))
        + (pause.reason().isEmpty() ? "" : ": " + pause.reason());
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

  /**
   * Attempts that ended.
   *
   * @param ended how many
   * @param failed how many of them failed or ended without an answer
   * @param minutes within how many minutes: 1 or 15
   */
  public record Attempts(long ended, long failed, int minutes) {

    private static Attempts of(Growth growth, int minutes) {
      long failed = growth.count("failed", "rejected", "unknown", "expired");
      return new Attempts(growth.count("done") + failed, failed, minutes);
    }

    /** Returns the share of those that failed, in percent, rounded down. */
    public long failedPercent() {
      return ended == 0 ? 0 : failed * 100 / ended;
    }
  }

  /** Returns those of the last minute if they are enough to judge by, else of 15 minutes. */
  public Attempts attempts() {
    Attempts last = Attempts.of(minute, 1);
    return last.ended() >= FAILING_ATTEMPTS ? last : Attempts.of(quarter, 15);
  }

  /** Returns whether a part of the attempts fails, while the circuit is closed. */
  public boolean failing() {
    Attempts attempts = attempts();
    return !circuitOpen
        && attempts.ended() >= FAILING_ATTEMPTS
        && attempts.failed() * 100 >= attempts.ended() * FAILING_PERCENT;
  }
}
