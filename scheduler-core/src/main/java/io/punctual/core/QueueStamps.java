package io.punctual.core;

import io.punctual.core.job.QueueName;
import java.util.Map;

/**
 * Checksums that show whether queues have changed.
 *
 * @param now the store's time, epoch ms; 0 without queues
 * @param of a checksum for each queue. It differs whenever the queue's {@link QueueStats} differ,
 *     except for changes by time, by a calendar, or inside this engine. Empty if the queue cannot
 *     be read
 */
public record QueueStamps(long now, Map<QueueName, String> of) {}
