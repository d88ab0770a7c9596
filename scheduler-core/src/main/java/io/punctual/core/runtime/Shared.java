package io.punctual.core.runtime;

import io.punctual.core.deliver.InFlight;
import io.punctual.core.recovery.Outages;
import io.punctual.core.scan.ScanContext;
import io.punctual.core.submit.Admission;
import io.punctual.core.times.StartTimes;
import io.punctual.core.wake.Capacity;
import io.punctual.core.work.Context;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * The state that the buckets of one engine share.
 *
 * @param random makes what each bucket draws jitter from
 */
public record Shared(
    Context context,
    ScanContext scan,
    Supplier<RandomGenerator> random,
    Outages outages,
    InFlight inFlight,
    Capacity capacity,
    StartTimes times,
    Admission admission) {}
