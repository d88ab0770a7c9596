package io.punctual.core.job;

/**
 * Tells one state of a job from all others. Another job of the same id has another incarnation.
 *
 * @param incarnation of the job
 * @param number 1 when the job was created; each change makes it larger: a replacement, a revision,
 *     a move, a claim, and the end of an attempt after which the job is still there
 */
public record JobVersion(String incarnation, long number) {}
