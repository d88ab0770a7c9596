package io.punctual.core.store.query;

import io.punctual.core.job.Pause;
import io.punctual.core.job.Throttle;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Counts of one bucket.
 *
 * @param delayed waiting, due or not
 * @param ready of those, due
 * @param oldestReady due time of the earliest ready job, or null
 * @param nextDue due time of the earliest job that is not due yet, or null
 * @param pauses those that go on: at most its own and that of its application
 * @param throttle how many jobs may be out
 * @param dropsExpired whether jobs that could not start in time are dropped
 * @param hours as set by {@link io.punctual.core.store.JobStore#hours}; empty for any time
 * @param closedUntil epoch ms until when nothing is handed out by the hours, 0 if that has to be
 *     found out; null while jobs are handed out
 * @param counters by name, since the queue was made: submitted, done, failed, unknown,
 *     undeliverable, released, expired, rejected, dead, cancelled, requeued, purged, lapsed,
 *     dropped
 * @param lastDeath epoch ms at which the newest dead letter died, or null
 * @param deadInHour dead letters that died within the last hour
 */
public record BucketStats(
    long now,
    long delayed,
    long ready,
    long reserved,
    long dead,
    @Nullable Long oldestReady,
    @Nullable Long nextDue,
    List<Pause> pauses,
    Throttle throttle,
    boolean dropsExpired,
    String hours,
    @Nullable Long closedUntil,
    Map<String, Long> counters,
    @Nullable Long lastDeath,
    long deadInHour) {

  /** Epoch ms since when it is paused; null while it is not. */
  public @Nullable Long pausedSince() {
    return Pause.since(pauses);
  }
}
