package io.punctual.spring.outbox;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The last time that this application sent again what the store may have lost.
 *
 * @param since what was sent after this time is sent again, by the database's clock; null for all
 * @param begunAt by the database's clock
 * @param endedAt null while it goes on
 * @param missing jobs that were missing and are back, and cancels that took effect again
 * @param present jobs that were there, and cancels of jobs that were not
 * @param refused jobs that the scheduler refused
 */
public record ResendStatus(
    @Nullable Instant since,
    Instant begunAt,
    @Nullable Instant endedAt,
    long missing,
    long present,
    long refused) {}
