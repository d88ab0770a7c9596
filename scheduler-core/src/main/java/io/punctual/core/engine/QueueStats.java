package io.punctual.core.engine;

import io.punctual.core.queue.QueueName;
import io.punctual.core.store.Throttle;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Counts of one queue.
 *
 * @param pausedSince epoch ms since when nothing is handed out, or null
 * @param throttle how many jobs may be out, by all schedulers together
 * @param parked whether jobs are due and the dispatcher takes none of them, nor has any, seen from
 *     here
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
    @Nullable Long pausedSince,
    Throttle throttle,
    Map<String, Long> counters) {}
