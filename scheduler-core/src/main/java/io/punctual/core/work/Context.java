package io.punctual.core.work;

import io.punctual.core.EngineOptions;
import io.punctual.core.store.JobStore;
import java.util.function.LongSupplier;

/**
 * The state that all duties of one engine share.
 *
 * @param ticks monotonic ns, 0 or more
 */
public record Context(
    JobStore jobs, EngineOptions options, Threads threads, LongSupplier ticks, Defects defects) {

  public long now() {
    return ticks.getAsLong();
  }
}
