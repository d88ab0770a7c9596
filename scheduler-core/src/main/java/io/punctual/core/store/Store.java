package io.punctual.core.store;

/**
 * The parts of one store.
 *
 * @param calls tells how the calls of jobs and queues went
 */
public record Store(
    JobStore jobs,
    QueueDirectory queues,
    WakeUps wakeUps,
    StoreInspector inspector,
    EpochMarker epoch,
    StoreCalls calls) {}
