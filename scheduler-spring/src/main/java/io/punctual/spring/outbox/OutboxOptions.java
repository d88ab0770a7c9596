package io.punctual.spring.outbox;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How the outbox is relayed.
 *
 * @param pollInterval how often this instance looks even if nothing wakes it
 * @param lease how long what an instance has taken is left to it unless it extends that
 * @param keepRefused how long calls are kept that can never be made
 * @param keepSent how long calls are kept that were made; null if they are not
 */
public record OutboxOptions(
    Duration pollInterval, Duration lease, Duration keepRefused, @Nullable Duration keepSent) {}
