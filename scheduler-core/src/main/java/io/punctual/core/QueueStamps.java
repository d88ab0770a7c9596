package io.punctual.core;

import io.punctual.core.job.QueueName;
import java.util.Map;

/**
 * Short texts that show whether queues have changed.
 *
 * @param now the store's time, epoch ms; 0 without queues
 * @param of by queue; a text differs whenever the {@link QueueStats} differ for another reason than
 *     time, or than what this engine itself does. Empty where the queue cannot be read
 */
public record QueueStamps(long now, Map<QueueName, String> of) {}
