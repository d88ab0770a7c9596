package io.punctual.core.store;

import io.punctual.RescheduleResult;
import org.jspecify.annotations.Nullable;

/**
 * What a reschedule did.
 *
 * @param newHead the new due time when the job became the earliest of the bucket, else null
 */
public record Rescheduled(RescheduleResult result, @Nullable Long newHead) {}
