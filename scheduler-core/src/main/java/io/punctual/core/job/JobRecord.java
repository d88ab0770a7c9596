package io.punctual.core.job;

import java.util.List;

/**
 * What is stored of a job besides its state.
 *
 * @param maxAttempts how often it may be tried before it is dead
 * @param acceptedAt epoch ms at which it was stored
 * @param timeToRun ms that one attempt may take; 0 if the job did not say
 * @param tags in ascending order
 * @param content empty in lists
 */
public record JobRecord(
    String incarnation,
    int maxAttempts,
    long acceptedAt,
    long timeToRun,
    List<String> tags,
    byte[] content) {}
