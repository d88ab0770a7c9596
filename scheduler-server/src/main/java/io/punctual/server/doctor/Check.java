package io.punctual.server.doctor;

import org.jspecify.annotations.Nullable;

/**
 * One thing that was looked at.
 *
 * @param name what was looked at: redis, durability, losses, clock, registry, registration,
 *     workers, worker, unserved, parked, circuits, queues
 * @param application whose it is; null for what all have in common
 * @param seen for people
 * @param cure what to do; null where nothing is to be done
 */
public record Check(
    String name, @Nullable String application, Status status, String seen, @Nullable String cure) {}
