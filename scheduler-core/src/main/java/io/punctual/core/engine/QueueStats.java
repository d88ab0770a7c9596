package io.punctual.core.engine;

import io.punctual.core.queue.QueueName;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Counts of one queue.
 *
 * @param pausedSince epoch ms since when nothing is handed out, or null
 * @param parked whether jobs are due and the dispatcher has nobody to send them to, seen from here
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
    Map<String, Long> counters) {}
