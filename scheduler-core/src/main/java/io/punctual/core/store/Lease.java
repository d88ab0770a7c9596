package io.punctual.core.store;

import io.punctual.core.job.LeaseToken;

/** A lease as its holder knows it. */
public record Lease(String taskId, LeaseToken token) {}
