package io.punctual.core;

import io.punctual.core.job.Pause;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.Throttle;
import io.punctual.schedule.TimeRules;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Counts of one queue.
 *
 * @param pauses those that go on: at most the queue's own and that of its application
 * @param throttle how many jobs may be out, by all schedulers together
 * @param dropsExpired whether jobs that could not start in time are dropped
 * @param hours in which jobs go out; {@link TimeRules#NONE} for any time
 * @param closedUntil epoch ms until when nothing is handed out by the hours; null while jobs go out
 * @param openSince epoch ms since when jobs go out by the hours; null while none do, and without
 *     hours
 * @param parked whether jobs are due and the dispatcher takes none of them, nor has any, seen from
 *     here
 * @param lastDeath epoch ms at which the newest dead letter died, or null
 * @param deadInHour dead letters that died within the last hour
 * @param damage what in the store cannot be read: a key of a foreign type and what stands there, or
 *     the hours; null for nothing. The figures are of the buckets that could be read, and {@code
 *     now} is 0 if none could
 */
public record QueueStats(
    QueueName queue,
    int buckets,
    long now,
    long delayed,
    long ready,
    long reserved,
    long dead,
    @Nullable Long oldestReady,
    @Nullable Long nextDue,
    boolean parked,
    List<Pause> pauses,
    Throttle throttle,
    boolean dropsExpired,
    TimeRules hours,
    @Nullable Long closedUntil,
    @Nullable Long openSince,
    Map<String, Long> counters,
    @Nullable Long lastDeath,
    long deadInHour,
    @Nullable String damage) {

  /** Epoch ms since when nothing is handed out; null while the queue is not paused. */
  public @Nullable Long pausedSince() {
    return Pause.since(pauses);
  }

  /** Whether the figures are not those of the whole queue. */
  public boolean isDamaged() {
    return damage != null;
  }
}
