package io.punctual.core.engine;

import io.punctual.core.store.JobStore;
import java.util.function.LongSupplier;

/**
 * What all duties of one engine share.
 *
 * @param ticks monotonic ns, 0 or more
 */
record Context(
    JobStore jobs, EngineOptions options, Threads threads, LongSupplier ticks, Defects defects) {

  long now() {
    return ticks.getAsLong();
  }
}
