package io.punctual.core.store;

import io.punctual.core.schedule.ScheduleName;
import io.punctual.core.store.durability.Reached;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Recurring schedules: what they are, how far they are, and when to look at them. */
public interface ScheduleStore {

  /** Most schedules of one call. */
  int MAX = 200;

  /**
   * A schedule.
   *
   * @param definition opaque to the store
   * @param state opaque to the store, and never empty; another one for each change
   * @param undeclared ms from the last declaration of the schedule to the last one of its
   *     application; null where no instance has declared it, and in {@link Due}
   */
  record Stored(ScheduleName name, byte[] definition, String state, @Nullable Long undeclared) {}

  /**
   * The answer to a look.
   *
   * @param now the store's time, epoch ms
   * @param schedule null if there is none of that name
   */
  record Found(long now, @Nullable Stored schedule) {}

  /**
   * Schedules whose time has come.
   *
   * @param now the store's time, epoch ms
   * @param next when the next look is due, epoch ms; null if there is nothing to look at
   */
  record Due(long now, @Nullable Long next, List<Stored> schedules) {}

  /**
   * A page of a list.
   *
   * @param next the last name of the page; null at the end
   */
  record Page(List<Stored> schedules, @Nullable String next) {}

  /**
   * A change, which takes effect if the schedule is as it was seen.
   *
   * @param expected the state that was seen; null for a schedule that was not there
   * @param definition the new one; null to keep it
   * @param state the new one; null to remove the schedule
   * @param look when it is due next, epoch ms; null for never
   */
  record Change(
      ScheduleName name,
      @Nullable String expected,
      byte @Nullable [] definition,
      @Nullable String state,
      @Nullable Long look) {}

  /** What became of a change. */
  enum Outcome {
    /** It took effect. */
    DONE,
    /** The schedule is not as it was seen. */
    CHANGED,
    /** It would be one too many of its application. */
    FULL
  }

  /**
   * What became of changes, in their order.
   *
   * @param reached where they were when this was answered
   */
  record Written(List<Outcome> outcomes, Reached reached) {}

  /**
   * Looks at a schedule.
   *
   * @throws StoreException if the store was not reached or refused
   */
  Found find(ScheduleName name);

  /**
   * Takes schedules whose time has come: for a while no other caller gets them.
   *
   * @param max 1 to {@link #MAX}
   * @param claim how long, unless they are written
   * @throws StoreException if the store was not reached or refused
   */
  Due due(int max, Duration claim);

  /**
   * Lists schedules by application, task type and id.
   *
   * @param application null for all
   * @param taskType null for all of the application
   * @param last {@link Page#next} of the page before; null to begin
   * @param max 1 to {@link #MAX}
   * @throws IllegalArgumentException if the last name is none of this list
   * @throws StoreException if the store was not reached or refused
   */
  Page list(
      @Nullable String application, @Nullable String taskType, @Nullable String last, int max);

  /**
   * Changes schedules, each for itself.
   *
   * @param changes at most {@link #MAX}
   * @param max schedules that an application may have
   * @param durably whether a user relies on it
   * @throws StoreException if the store was not reached or refused
   */
  Written write(List<Change> changes, int max, boolean durably);

  /**
   * Notes that an instance of an application has these schedules in its code, and no others.
   * Another definition that is written, and a schedule's end, make this void.
   *
   * @param names of the application; those of which there is no schedule are left out
   * @return how many were noted
   * @throws StoreException if the store was not reached or refused
   */
  int declare(String application, List<ScheduleName> names);
}
