package io.punctual.core.store;

/** A lease as its holder knows it. */
public record Lease(String taskId, LeaseToken token) {}
