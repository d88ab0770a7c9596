package io.punctual.core.schedule;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A moment at which a schedule fires.
 *
 * @param at the planned instant
 * @param note what the rules of the zone made of it, for people; null for nothing
 */
public record Occurrence(Instant at, @Nullable String note) {}
