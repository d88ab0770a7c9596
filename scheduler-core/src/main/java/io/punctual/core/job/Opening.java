package io.punctual.core.job;

/**
 * When a bucket hands out jobs by its hours: the opening at some moment, or the next one. All times
 * are epoch ms of the store.
 *
 * @param to exclusive
 * @param goodUntil when it has to be found out again, exclusive
 */
public record Opening(long from, long to, long goodUntil) {}
