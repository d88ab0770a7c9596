package io.punctual;

import io.punctual.conflict.OnConflict;
import io.punctual.wire.Limits;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;

/**
 * A job that is being described; made by {@link TaskSubmitService#job}. For one thread, and to be
 * sent once.
 *
 * <pre>{@code
 * tasks.job("order.close", new CloseOrder(id)).id(id).in(Duration.ofMinutes(30)).tag("order:" + id).send();
 * }</pre>
 */
public interface JobRequest {

  /** Names the job within its task type; without this call it gets a random id. */
  JobRequest id(String taskId);

  /** Due that long after the scheduler accepted it. Replaces an earlier due time. */
  JobRequest in(Duration delay);

  /** Due at that instant, to the millisecond. Replaces an earlier due time. */
  JobRequest at(Instant dueAt);

  /**
   * Adds a business key such as {@code order:123}, by which the job is found and cancelled; at most
   * {@link Limits#MAX_TAGS}.
   */
  JobRequest tag(String tag);

  /**
   * Cancels the job when that event comes, also while it runs: then its attempt is told to stop, as
   * by {@link TaskSubmitService.Running#INTERRUPT}. An event that came a short while ago counts.
   *
   * @param name such as {@code order.paid}
   * @param key what the event is about, such as the order's id
   */
  JobRequest cancelOn(String name, String key);

  /**
   * Makes the job due at once when that event comes, if it waits for a later time. An event that
   * came a short while ago counts.
   *
   * @param name such as {@code kyc.done}
   * @param key what the event is about, such as the user's id
   */
  JobRequest runOn(String name, String key);

  /** Adds a small text that travels with the job, or replaces the one of that name. */
  JobRequest header(String name, String value);

  /** How long one attempt may take; without this call what is set for the worker, or 60 s. */
  JobRequest timeToRun(Duration timeToRun);

  /** What to do after a failed attempt; without this call what is set for the worker or queue. */
  JobRequest retry(RetryPolicy retry);

  /**
   * Sets the latest time at which an attempt may start: a job that could not start by then becomes
   * a dead letter. An attempt that runs at that time continues. Replaces an earlier {@link
   * #expiresIn}.
   */
  JobRequest notAfter(Instant notAfter);

  /** The same, counted from its acceptance. Replaces an earlier {@link #notAfter}. */
  JobRequest expiresIn(Duration expiresIn);

  /**
   * Spreads the start of the job over that long after its due time, so that jobs which are due at
   * the same time do not all run at once. The offset follows from the job's id.
   */
  JobRequest within(Duration within);

  /**
   * Starts the job and its retries only at these times of the week. A job that is due outside waits
   * for the next opening.
   *
   * @param window such as {@code Mon-Fri 09:00-20:00; Sat 10:00-14:00}
   * @param zone the time zone of the window
   */
  JobRequest window(String window, ZoneId zone);

  /**
   * Does not start the job on the dates of a calendar, which an operator defines.
   *
   * @param zone the time zone of the dates
   */
  JobRequest calendar(String name, ZoneId zone);

  /** Replaces a job with this id that waits or is dead; a job that a worker has is not changed. */
  JobRequest replace();

  /** As {@link #debounce(Duration, Duration, OnConflict.Keep)}, with the last submit's content. */
  default JobRequest debounce(Duration quiet, Duration atMost) {
    return debounce(quiet, atMost, OnConflict.Keep.LAST);
  }

  /**
   * Gathers submits of this id: the job runs once no submit came for some time. Replaces the due
   * time. If the job runs, a submit begins the next window when it ends.
   *
   * @param quiet how long no submit must come
   * @param atMost how long the first submit of a window may be delayed; at least {@code quiet}
   * @param keep which submit's content runs
   */
  JobRequest debounce(Duration quiet, Duration atMost, OnConflict.Keep keep);

  /** Lets one job with this id run, and at most one wait. */
  JobRequest whileRunning(OnConflict.WhileRunning rule);

  /**
   * The job, for {@link TaskSubmitService#sendAll}.
   *
   * @throws InvalidJobException if a value is out of range or the due time is missing; the message
   *     names it
   */
  DelayQueueJob build();

  /**
   * Sends the job.
   *
   * @throws InvalidJobException if a value is out of range or the due time is missing; the message
   *     names it
   * @throws JobConflictException if another job with this id and other content is there, or one
   *     that should be replaced is with a worker
   * @throws SchedulerUnavailableException if no scheduler answered; the outcome is then unknown
   */
  SubmitResult send();
}
