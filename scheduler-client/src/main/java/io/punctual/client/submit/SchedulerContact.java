package io.punctual.client.submit;

import java.net.URI;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A scheduler, and what came of calling it.
 *
 * @param scheduler its base address
 * @param answered when it answered last; null if it never did
 * @param failed when it last gave no answer; null where it answered since then, or was never called
 * @param error why there was no answer; null where {@code failed} is
 */
public record SchedulerContact(
    URI scheduler, @Nullable Instant answered, @Nullable Instant failed, @Nullable String error) {}
