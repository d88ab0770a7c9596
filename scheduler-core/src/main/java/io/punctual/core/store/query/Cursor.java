package io.punctual.core.store.query;

/** A place in a list: behind this job. */
public record Cursor(long score, String taskId) {}
