package io.punctual.core.store;

/**
 * What is stored of a job besides its state.
 *
 * @param maxAttempts how often it may be tried before it is dead
 * @param acceptedAt epoch ms at which it was stored
 */
public record JobRecord(String incarnation, int maxAttempts, long acceptedAt, byte[] content) {}
