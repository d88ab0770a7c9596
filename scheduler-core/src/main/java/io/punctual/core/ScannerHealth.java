package io.punctual.core;

import io.punctual.core.job.QueueName;
import java.util.List;
import java.util.SortedMap;

/**
 * The scanners of an engine.
 *
 * @param running how many are at work
 * @param ended the buckets whose scanner has ended although nobody stopped it: their jobs wait for
 *     another engine
 * @param damaged the queues of which a key in the store has a foreign type, each with the key and
 *     what stands there; their jobs wait until an operator has fixed it. Any call may have seen it
 * @param defects what duties of the engine have met that should not happen, by the duty's name,
 *     until it works again; each of them goes on
 */
public record ScannerHealth(
    int running,
    List<String> ended,
    SortedMap<QueueName, String> damaged,
    SortedMap<String, String> defects) {}
