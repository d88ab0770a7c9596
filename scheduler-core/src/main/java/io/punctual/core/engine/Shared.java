package io.punctual.core.engine;

import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * What the buckets of one engine share.
 *
 * @param random makes what each bucket draws jitter from
 */
record Shared(
    Context context,
    ScanContext scan,
    Supplier<RandomGenerator> random,
    Outages outages,
    InFlight inFlight,
    Capacity capacity,
    Admission admission) {}
