package io.punctual.core.scan;

import io.punctual.core.WakeCause;
import io.punctual.core.job.Bucket;

/** Signals what a scanner does, for tests that wait for it. Null in production. */
public interface ScanSignals {

  /** A look with a claim came back. */
  default void claimed(Bucket bucket, int jobs) {}

  /** Jobs are due, and there is no room for them. */
  default void parked(Bucket bucket) {}

  /** The scanner goes to sleep. */
  default void asleep(Bucket bucket, long nanos, WakeCause until) {}

  /** A call to the store failed. */
  default void failed(Bucket bucket) {}
}
