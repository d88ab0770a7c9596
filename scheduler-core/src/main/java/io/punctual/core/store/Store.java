package io.punctual.core.store;

/** The parts of one store. */
public record Store(
    JobStore jobs,
    QueueDirectory queues,
    WakeUps wakeUps,
    StoreInspector inspector,
    EpochMarker epoch) {}
