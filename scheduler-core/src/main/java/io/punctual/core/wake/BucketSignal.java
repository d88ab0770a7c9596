package io.punctual.core.wake;

import io.punctual.core.job.Bucket;

/** A bucket, and the signal that wakes its scanner. */
public record BucketSignal(Bucket bucket, WakeSignal signal) {}
