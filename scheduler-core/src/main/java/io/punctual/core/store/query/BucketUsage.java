package io.punctual.core.store.query;

/**
 * What one bucket takes of the store.
 *
 * @param jobs waiting, reserved and dead
 * @param bytes of memory, as the store estimates it
 */
public record BucketUsage(long jobs, long bytes) {}
