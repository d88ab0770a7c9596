package io.punctual.core.store;

import io.punctual.core.calendar.CalendarStore;
import io.punctual.core.store.durability.EpochMarker;
import io.punctual.core.store.durability.StoreInspector;

/**
 * The parts of one store.
 *
 * @param calls tells how the calls of jobs and queues went
 */
public record Store(
    JobStore jobs,
    QueueDirectory queues,
    WakeUps wakeUps,
    Members members,
    StoreInspector inspector,
    EpochMarker epoch,
    StoreCalls calls,
    ScheduleStore schedules,
    CalendarStore calendars) {}
