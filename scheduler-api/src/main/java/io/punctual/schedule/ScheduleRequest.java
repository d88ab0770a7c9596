package io.punctual.schedule;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;

/**
 * A recurring schedule that is being described; made by {@code TaskSubmitService.schedule}. For one
 * thread, and to be put once.
 *
 * <pre>{@code
 * tasks.schedule("report.daily").id("tenant:7").cron("0 9 * * MON-FRI", ZoneId.of("Europe/Berlin")).put();
 * }</pre>
 */
public interface ScheduleRequest {

  /** Names the schedule within its task type; without this call it has the task type's name. */
  ScheduleRequest id(String id);

  /** Fires at the local times of a zone that the expression names, of 5 or 6 fields or a macro. */
  ScheduleRequest cron(String expression, ZoneId zone);

  /** Fires in exact steps, counted from 1970, UTC. */
  default ScheduleRequest every(Duration step) {
    return every(step, Instant.EPOCH);
  }

  /** Fires in exact steps from an instant on. */
  ScheduleRequest every(Duration step, Instant anchor);

  /** What becomes of local times that do not exist; without this call {@link Gap#SHIFT}. */
  ScheduleRequest gap(Gap gap);

  /**
   * Which local times count that come twice; without this call {@link Fold#FIRST}, or {@link
   * Fold#BOTH} where the hour of the expression is {@code *}.
   */
  ScheduleRequest fold(Fold fold);

  /** Nothing fires before. */
  ScheduleRequest from(Instant first);

  /** Nothing fires after. */
  ScheduleRequest until(Instant last);

  /** Nothing fires on that local date. */
  ScheduleRequest exclude(LocalDate date);

  /** Nothing fires on the local dates of a calendar, which an operator defines. */
  ScheduleRequest exclude(String calendar);

  /**
   * What becomes of occurrences that no scheduler could submit within a minute; without this call
   * {@link Missed#LATEST}.
   */
  ScheduleRequest missed(Missed missed);

  /** The same, unless they are older than that, 1 min to 366 days. */
  ScheduleRequest missed(Missed missed, Duration within);

  /**
   * What becomes of an occurrence while the job of the one before is there; without this call
   * {@link WhileRunning#SKIP}.
   */
  ScheduleRequest whileRunning(WhileRunning rule);

  /**
   * Its jobs are due later by up to that, at most 24 h; by less than the time between two runs,
   * unless jobs start while others run ({@link WhileRunning#START}).
   */
  ScheduleRequest jitter(Duration most);

  /** Adds a tag, by which its jobs are found. */
  ScheduleRequest tag(String tag);

  /** Adds a small text that travels with its jobs, or replaces the one of that name. */
  ScheduleRequest header(String name, String value);

  /** How long one attempt may take; without this call what is set for the worker, or 60 s. */
  ScheduleRequest timeToRun(Duration timeToRun);

  /**
   * What to do after a failed attempt, as {@code RetryPolicy.parse} reads it; without this call
   * what is set for the worker or queue.
   */
  ScheduleRequest retry(String retry);

  /**
   * Creates or replaces the schedule, at once, also inside of a transaction. The same again changes
   * nothing.
   *
   * <p>Throws an {@code InvalidJobException} if a value is out of range or nothing would ever fire;
   * the message names it. Throws a {@code SchedulerUnavailableException} if no scheduler answered:
   * the outcome is then unknown.
   */
  ScheduleResult put();
}
