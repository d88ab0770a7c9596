package io.punctual.schedule;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The result of putting a schedule.
 *
 * @param nextAt the planned instant that comes next; null while the schedule is paused
 */
public record ScheduleResult(Outcome outcome, @Nullable Instant nextAt) {

  /** The cases. */
  public enum Outcome {
    /** There was none of that id. */
    CREATED,
    /** It was another one; the new one counts from now on. A paused schedule stays paused. */
    REPLACED,
    /** It was the same; nothing changed. */
    UNCHANGED
  }
}
