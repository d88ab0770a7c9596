package io.punctual.core.store;

/** A place in a list: behind this job. */
public record Cursor(long score, String taskId) {}
