package io.punctual.core.engine;

import io.punctual.core.queue.Bucket;

/** A bucket, and the signal that wakes its scanner. */
record BucketSignal(Bucket bucket, WakeSignal signal) {}
