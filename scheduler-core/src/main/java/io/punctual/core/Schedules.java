package io.punctual.core;

import io.punctual.core.schedule.Occurrence;
import io.punctual.core.schedule.ScheduleDefinition;
import io.punctual.core.schedule.ScheduleName;
import io.punctual.core.schedule.ScheduleState;
import io.punctual.core.store.durability.Reached;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Recurring schedules. Every engine that runs fires all that are due; each planned instant gets one
 * job. Calls throw a {@link io.punctual.core.store.StoreException} if the store was not reached or
 * refused.
 */
public interface Schedules {

  /**
   * A schedule.
   *
   * @param next when it fires next, by its calendars as they are now; null while it is paused, and
   *     if nothing follows
   * @param origin who defines it, as far as its application's instances have said
   * @param reached where the change was when it was answered; where nothing changed, as stored
   */
  record View(
      ScheduleName name,
      ScheduleDefinition definition,
      ScheduleState state,
      @Nullable Instant next,
      Origin origin,
      Reached reached) {}

  /** Who defines a schedule. */
  enum Origin {
    /** A call: no instance declared it since it was last defined. */
    API,
    /** The code of the application: an instance that has it declared it lately. */
    CODE,
    /**
     * The code of instances that are gone: those that run have declared their schedules for longer
     * than {@link #ORPHANED_AFTER} without this one.
     */
    ORPHANED
  }

  /**
   * How much older the last declaration of an orphaned schedule is than the last one of its
   * application. Instances declare more often, so that none that runs is overlooked.
   */
  Duration ORPHANED_AFTER = Duration.ofMinutes(15);

  /** What became of a put. */
  enum Put {
    CREATED,
    /** The schedule was there with another definition. */
    REPLACED,
    /** The schedule was there with this definition. */
    UNCHANGED,
    /** There is a schedule of that name, and a new one was wanted. */
    EXISTS,
    /** The application has as many schedules as it may. */
    FULL
  }

  /**
   * The answer to a put.
   *
   * @param schedule null for {@link Put#EXISTS} and {@link Put#FULL}
   */
  record PutAnswer(Put outcome, @Nullable View schedule) {}

  /**
   * A page of a list.
   *
   * @param next names where the next page begins; null at the end
   * @param damaged schedules that could not be read
   */
  record Page(List<View> schedules, @Nullable String next, List<ScheduleName> damaged) {}

  /**
   * A job that was submitted for a schedule.
   *
   * @param planned the instant that its id names
   */
  record Run(Instant planned, String taskId, Submit answer) {}

  /**
   * Jobs that were submitted for instants of the past or the future.
   *
   * @param next the first instant that is left; null if none is
   */
  record Backfill(List<Run> runs, @Nullable Instant next) {}

  /**
   * Creates a schedule, or replaces its definition. With an equal definition nothing changes, also
   * if it does not fire any more. With other times, the next occurrence is computed from now on;
   * one that is due and not yet missed stays. A paused schedule stays paused.
   *
   * @param max schedules that an application may have
   * @throws IllegalArgumentException if it never fires from now on, or its jitter is too long; the
   *     message begins with the name of the value that is wrong
   */
  PutAnswer put(ScheduleName name, ScheduleDefinition definition, int max);

  /** Creates a schedule, as {@link #put}, unless there is one of that name. */
  PutAnswer create(ScheduleName name, ScheduleDefinition definition, int max);

  /** Returns a schedule; empty if there is none of that name. */
  Optional<View> find(ScheduleName name);

  /**
   * Lists schedules by application, task type and id.
   *
   * @param application null for all
   * @param taskType null for all of the application
   * @param last {@link Page#next} of the page before; null to begin
   * @param max 1 to 200
   * @throws IllegalArgumentException if the last name is none of this list
   */
  Page list(
      @Nullable String application, @Nullable String taskType, @Nullable String last, int max);

  /**
   * Notes that an instance of an application has these schedules in its code, and no others. To be
   * repeated while it runs, several times within {@link #ORPHANED_AFTER}.
   *
   * @param names those of which there is no schedule are left out
   * @return how many were noted
   */
  int declare(String application, List<ScheduleName> names);

  /** Removes a schedule; jobs that were submitted stay. False if there was none. */
  boolean delete(ScheduleName name);

  /**
   * Pauses a schedule, or resumes it: then the next occurrence is computed from now on.
   *
   * @return empty if there is none of that name
   */
  Optional<View> pause(ScheduleName name, boolean paused);

  /**
   * Submits a job of the schedule now, besides those that are planned, paused or not. The schedule
   * does not change.
   *
   * @return empty if there is none of that name
   */
  Optional<Run> run(ScheduleName name);

  /**
   * Submits the jobs of planned instants between two others, whatever became of them before.
   *
   * @param from the first instant that counts
   * @param until the last one that counts
   * @param max jobs
   * @return those that were submitted until one was refused, or their params had a few MB, in the
   *     order of their instants; empty if there is no schedule of that name
   */
  Optional<Backfill> backfill(ScheduleName name, Instant from, Instant until, int max);

  /**
   * Returns the next occurrences.
   *
   * @param from the first instant that counts; null for now, by the store's time
   */
  List<Occurrence> preview(ScheduleDefinition definition, @Nullable Instant from, int max);

  /** Returns a definition as it fires now: with the dates of its calendars left out. */
  ScheduleDefinition resolved(ScheduleDefinition definition);
}
