package io.punctual.core;

import io.punctual.DelayQueueJob;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.JobState;
import io.punctual.core.job.JobVersion;
import io.punctual.core.job.Pause;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.Throttle;
import io.punctual.core.store.Cancelled;
import io.punctual.core.store.Requeued;
import io.punctual.core.store.Restored;
import io.punctual.core.store.Revised;
import io.punctual.core.store.query.Cursor;
import io.punctual.core.store.query.Forecast;
import io.punctual.core.store.query.JobView;
import io.punctual.core.store.query.Undoable;
import io.punctual.schedule.TimeRules;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The door for those who look after the queues: lists, tags, pauses, forecasts, changes.
 *
 * <p>Lists have jobs without their content, which may be a quarter of a megabyte each.
 */
public interface Operations {

  /**
   * Part of a list.
   *
   * @param next where to go on; null at the end
   * @param calls how many calls to the store it took
   */
  record Listed<C>(List<JobView> jobs, @Nullable C next, int calls) {}

  /**
   * A place in the list of a tag in one queue.
   *
   * @param bucket index of the bucket
   * @param taskId the last id seen in it; empty for the beginning
   */
  record TagCursor(int bucket, String taskId) {}

  /**
   * Jobs of a state by due time, lease deadline or time of death, over all buckets of the queue.
   *
   * @param state DELAYED, RESERVED or DEAD
   * @param newestFirst whether the latest time comes first; else the earliest
   * @param after where to go on; null for the beginning
   * @param max 1 to 200
   * @return empty for a queue that is not known
   */
  Listed<Cursor> jobs(
      QueueName queue, JobState state, boolean newestFirst, @Nullable Cursor after, int max);

  /** Jobs of a state, the earliest first. */
  default Listed<Cursor> jobs(QueueName queue, JobState state, @Nullable Cursor after, int max) {
    return jobs(queue, state, /* newestFirst= */ false, after, max);
  }

  /**
   * Jobs of a queue with a tag, whatever their state; by bucket and id.
   *
   * @param after where to go on; null for the beginning
   * @param max 1 to 200
   * @return empty for a queue that is not known
   */
  Listed<TagCursor> tagged(QueueName queue, String tag, @Nullable TagCursor after, int max);

  /**
   * Cancels a job.
   *
   * @param seen only if the job is still this version of itself; null for any
   * @param interrupt whether the attempt of a job that runs is told to stop; else it is left alone
   * @param by who cancels it, for people who look at the job afterwards; null if not known
   * @param operation the id of the operation on many jobs of which this cancel is a part, see
   *     {@link #undoable}; without spaces, null for none
   */
  Cancelled cancel(
      QueueName queue,
      String taskId,
      @Nullable JobVersion seen,
      boolean interrupt,
      @Nullable String by,
      @Nullable String operation);

  /** Cancels a job by itself. */
  default Cancelled cancel(
      QueueName queue,
      String taskId,
      @Nullable JobVersion seen,
      boolean interrupt,
      @Nullable String by) {
    return cancel(queue, taskId, seen, interrupt, by, /* operation= */ null);
  }

  /** Cancels a job; by whom is not known. */
  default Cancelled cancel(
      QueueName queue, String taskId, @Nullable JobVersion seen, boolean interrupt) {
    return cancel(queue, taskId, seen, interrupt, /* by= */ null);
  }

  /** Cancels a job unless it runs. */
  default Cancelled cancel(QueueName queue, String taskId, @Nullable JobVersion seen) {
    return cancel(queue, taskId, seen, /* interrupt= */ false);
  }

  /**
   * Undoes a cancel. The job is as it was before, and is due at once if its due time has passed.
   *
   * @param operation the job is restored only if this operation cancelled it; null for any cancel
   * @see io.punctual.core.store.JobStore#restore
   */
  Restored restore(QueueName queue, String taskId, @Nullable String operation);

  /** Undoes a cancel, whatever cancelled the job. */
  default Restored restore(QueueName queue, String taskId) {
    return restore(queue, taskId, /* operation= */ null);
  }

  /**
   * Lists what is kept of the jobs of a queue that an operation on many jobs cancelled.
   *
   * @param after where to go on; null for the beginning
   * @param max most jobs, 1 to 200
   * @return no items for a queue that is not known
   */
  Kept undoable(QueueName queue, String operation, @Nullable Cursor after, int max);

  /**
   * Part of what is kept of the jobs that an operation cancelled.
   *
   * @param items in the order in which they are forgotten; there may be none before the end
   * @param next where to go on; null at the end
   * @param calls how often the store was asked
   */
  record Kept(List<Undoable.Item> items, @Nullable Cursor next, int calls) {}

  /**
   * Gives a dead letter a new life, due at once.
   *
   * @param seen only if the job is still this version of itself; null for any
   */
  Requeued.Item requeue(QueueName queue, String taskId, @Nullable JobVersion seen);

  /**
   * Changes a waiting job.
   *
   * @param due the new due time; null keeps it
   * @param change makes the new content of the old one; null keeps it. May be called again when the
   *     job changes meanwhile
   * @param seen only if the job is still this version of itself; null for any
   */
  Revised revise(
      QueueName queue,
      String taskId,
      @Nullable Due due,
      @Nullable UnaryOperator<JobContent> change,
      @Nullable JobVersion seen);

  /**
   * Hands out nothing of the queue any more, or again; for all schedulers, and over restarts. A
   * queue whose application is paused, too, waits for the end of both.
   *
   * @param terms null resumes
   * @return epoch ms since when it is paused by itself; null when it is not
   * @throws java.util.NoSuchElementException if the queue is not known
   */
  @Nullable Long pause(QueueName queue, Pause.@Nullable Terms terms);

  /** Pauses a queue until it is resumed, or resumes it. */
  default @Nullable Long pause(QueueName queue, boolean paused) {
    return pause(queue, paused ? Pause.Terms.NONE : null);
  }

  /**
   * Hands out nothing of all queues of an application any more, also of those that begin later, or
   * again; for all schedulers, and over restarts. May be repeated: if it fails, some queues may be
   * paused already.
   *
   * @param terms null resumes; what is paused by itself stays so
   */
  ApplicationPaused pauseApplication(String application, Pause.@Nullable Terms terms);

  /**
   * What a pause of an application did.
   *
   * @param pause that goes on now; null for none
   * @param queues how many queues it holds for
   * @param damaged queues whose stored data is damaged, so that it may not hold for them
   */
  record ApplicationPaused(@Nullable Pause pause, int queues, List<QueueName> damaged) {}

  /**
   * Bounds how many jobs of the queue are out, for all schedulers together, and over restarts. A
   * queue of several buckets splits the bounds among them.
   *
   * @throws java.util.NoSuchElementException if the queue is not known
   * @throws IllegalArgumentException if the bounds are out of range, or too small to be split
   */
  void limit(QueueName queue, Throttle throttle);

  /**
   * Sets whether jobs that could not start in time are dropped, for all schedulers and across
   * restarts.
   *
   * @param drop whether they are dropped; else they become dead letters
   * @throws java.util.NoSuchElementException if the queue is not known
   */
  void dropExpired(QueueName queue, boolean drop);

  /**
   * Lets jobs of the queue go out in certain hours only, or at any time; for all schedulers and
   * across restarts.
   *
   * @param hours window, zone and calendar of it; {@link TimeRules#NONE} for any time
   * @throws java.util.NoSuchElementException if the queue is not known
   */
  void hours(QueueName queue, TimeRules hours);

  /**
   * Handles an event: remembers it for jobs that are submitted later, then cancels the jobs of the
   * application that name it in {@code cancelOn}, also those that run, and makes those due that
   * name it in {@code runOn}. May be repeated.
   */
  EventDone event(String application, DelayQueueJob.Event event);

  /** What an event does to a job. */
  enum EventOutcome {
    /** It will not run. */
    CANCELLED,
    /** Its attempt is told to stop. */
    CANCELLING,
    /** It is due now. */
    DUE,
    /** A worker has it already. */
    IN_DELIVERY,
    /** It is a dead letter, and was not changed. */
    DEAD
  }

  /** What an event did to one job. */
  record EventItem(QueueName queue, String taskId, EventOutcome outcome) {}

  /**
   * What an event did.
   *
   * @param damaged queues whose stored data is damaged, so that their jobs may have missed the
   *     event
   */
  record EventDone(List<EventItem> items, List<QueueName> damaged) {}

  /** Removes waiting or dead jobs for good; false for those that are not in that state. */
  boolean purge(QueueName queue, JobState state, String taskId);

  /**
   * How many waiting jobs of all these queues fall due when. What is in a damaged bucket is not
   * counted; {@link Engine#scanners} names such queues.
   */
  Forecast forecast(List<QueueName> queues, Duration width, int intervals);
}
