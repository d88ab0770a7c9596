package io.punctual.core.store;

import io.punctual.core.job.Due;

/**
 * A job to be stored.
 *
 * @param incarnation made by the caller, new for each submission: 12 random characters of
 *     [A-Za-z0-9_-]
 * @param maxAttempts 0 for the default of the queue
 * @param content opaque to the store; equal content means the same job
 * @param replace whether a waiting or dead job with other content gives way
 */
public record Submission(
    String taskId, String incarnation, Due due, int maxAttempts, byte[] content, boolean replace) {}
