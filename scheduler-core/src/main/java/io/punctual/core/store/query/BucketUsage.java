package io.punctual.core.store.query;

/**
 * The usage of the store by one bucket.
 *
 * @param jobs waiting, reserved and dead
 * @param bytes of memory, as the store estimates it
 */
public record BucketUsage(long jobs, long bytes) {}
