package io.punctual.core;

import io.punctual.core.job.JobContent;

/**
 * A job that somebody pulled.
 *
 * @param attempt counted from 1
 * @param version the number of this claim among the changes of the job's incarnation
 * @param dueTime epoch ms at which it was due at first
 * @param lateSince epoch ms from which on this attempt is late, as {@link Delivery#lateSince} says
 * @param until epoch ms at which it comes back unless it is ended or extended
 * @param timeToRun ms between now and then
 */
public record PulledJob(
    ClaimToken token,
    int attempt,
    long version,
    long dueTime,
    long lateSince,
    long until,
    long timeToRun,
    JobContent content) {}
