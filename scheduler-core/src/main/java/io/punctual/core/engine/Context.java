package io.punctual.core.engine;

import io.punctual.core.store.JobStore;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * What all duties of one engine share.
 *
 * @param ticks monotonic ns, 0 or more
 * @param random makes what each bucket draws jitter from
 * @param signals null in production
 */
record Context(
    JobStore jobs,
    EngineOptions options,
    Dispatcher dispatcher,
    Threads threads,
    Supplier<RandomGenerator> random,
    LongSupplier ticks,
    Contact contact,
    Outages outages,
    Defects defects,
    InFlight inFlight,
    Capacity capacity,
    Pulls pulls,
    Admission admission,
    IdleChecks idleChecks,
    Looks looks,
    @Nullable ScanSignals signals) {

  long now() {
    return ticks.getAsLong();
  }
}
