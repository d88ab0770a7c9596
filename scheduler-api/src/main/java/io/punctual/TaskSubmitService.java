package io.punctual;

import io.punctual.schedule.ScheduleRequest;
import io.punctual.wire.Limits;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Hands jobs to the scheduler. Safe for use by many threads.
 *
 * <p>Every call blocks until the scheduler has answered. All calls may be repeated: a job is known
 * by its task id.
 *
 * <p>A payload that is a {@link String} goes out as it is. Everything else goes out as JSON,
 * written by the application's own Jackson mapper, without any name of a Java type; null is an
 * empty text.
 *
 * <p>Inside of a Spring transaction, calls take effect when that has committed, in their order, and
 * never if it is rolled back; their outcome is then {@code ON_COMMIT}. {@link #find}, {@link
 * #extend}, {@link #requeue}, {@link #restore} and {@link #deadLetters} act at once. The starters
 * have a property, {@code transactions=immediate}, that leaves transactions aside.
 *
 * <p>All methods throw {@link SchedulerUnavailableException} when no scheduler answered (the
 * outcome is then unknown: repeat the call with the same id), and {@link InvalidJobException} when
 * the input was refused. {@link PunctualException#isTransient} tells the two kinds apart.
 */
public interface TaskSubmitService {

  /**
   * Submits one job. Once this returns, the job is stored, unless the outcome is {@link
   * SubmitResult.Outcome#ON_COMMIT}.
   *
   * @throws JobConflictException if another job with this id and other content is there
   */
  SubmitResult send(DelayQueueJob job);

  /**
   * Submits a job with a random id.
   *
   * @param payload for the worker; a text as it is, everything else as JSON
   * @param delay how long from now, by the scheduler's clock; zero or more
   */
  default SubmitResult send(String taskType, @Nullable Object payload, Duration delay) {
    return job(taskType, payload).in(delay).send();
  }

  /**
   * Submits a job with a random id.
   *
   * @param payload for the worker; a text as it is, everything else as JSON
   * @param dueAt when it is due, to the millisecond; the past means now
   */
  default SubmitResult send(String taskType, @Nullable Object payload, Instant dueAt) {
    return job(taskType, payload).at(dueAt).send();
  }

  /**
   * Begins a job with an id, tags, headers or other values of its own.
   *
   * @param payload for the worker; a text as it is, everything else as JSON
   * @throws InvalidJobException if the payload cannot be written as JSON
   */
  JobRequest job(String taskType, @Nullable Object payload);

  /**
   * Begins a recurring schedule whose jobs have no payload. What is wrong with it is found when it
   * is put.
   */
  default ScheduleRequest schedule(String taskType) {
    return schedule(taskType, null);
  }

  /**
   * Begins a recurring schedule.
   *
   * @param payload for the worker, the same each time; a text as it is, everything else as JSON
   * @throws InvalidJobException if the payload cannot be written as JSON
   */
  ScheduleRequest schedule(String taskType, @Nullable Object payload);

  /**
   * Deletes a recurring schedule, at once, also inside of a transaction. Jobs that were submitted
   * stay.
   *
   * @return false if there was none
   */
  boolean deleteSchedule(String taskType, String id);

  /**
   * Submits many jobs, of any task types, at most {@link Limits#MAX_BATCH}. One bad job does not
   * hurt the others.
   *
   * @return an answer for each job, in the order given
   */
  List<BatchItem> sendAll(List<DelayQueueJob> jobs);

  /** Cancels a waiting job; a job that a worker has is not changed. */
  default CancelResult cancel(String taskType, String taskId) {
    return cancel(taskType, taskId, Running.LEAVE);
  }

  /**
   * Cancels a job.
   *
   * @param running what to do if a worker has it
   */
  CancelResult cancel(String taskType, String taskId, Running running);

  /** What a cancel does to a job that a worker has. */
  enum Running {
    /** The job is not changed. */
    LEAVE,
    /**
     * Its attempt is told to stop: {@link TaskContext#isCancelled} becomes true and its thread is
     * interrupted, usually within a second. The job is cancelled however the attempt ends, unless
     * the worker finishes it anyway and returns normally.
     */
    INTERRUPT
  }

  /**
   * Undoes the cancel of a job, for ten minutes: the job is as it was before, and is due at once if
   * its due time has passed. Takes effect at once, even inside a transaction.
   *
   * @see JobInfo#restorableUntil
   */
  RestoreResult restore(String taskType, String taskId);

  /**
   * What an undo of a cancel found.
   *
   * @param dueAt when the job is due; null where nothing was changed
   * @param version the number of the job's last change; 0 where nothing was changed
   * @param durability where the change was when the scheduler answered, as in {@link
   *     CancelResult#durability()}; empty where nothing was changed
   */
  record RestoreResult(
      RestoreResult.Outcome outcome, @Nullable Instant dueAt, long version, String durability) {

    /** The cases. */
    public enum Outcome {
      /**
       * The job is as it was before its cancel, or its attempt that was told to stop may go on;
       * also if an earlier call did that.
       */
      RESTORED,
      /** There is a job with that id that was not cancelled. */
      EXISTS,
      /** The job ran already. */
      FINISHED,
      /**
       * The job is not kept any more: the time is over, it is too large, or many others were
       * cancelled after it.
       */
      NOT_KEPT,
      /** Neither the job nor its cancel is known. */
      UNKNOWN
    }

    /** Returns a result that changed nothing. */
    public static RestoreResult refused(RestoreResult.Outcome outcome) {
      return new RestoreResult(outcome, null, 0, "");
    }

    /** Returns whether the job is there again. */
    public boolean restored() {
      return outcome == RestoreResult.Outcome.RESTORED;
    }
  }

  /**
   * Cancels all waiting jobs of this application that have this tag, of whatever task type. Each is
   * dealt with for itself: what a worker has, or what ran, is left alone and says so.
   */
  TagCancelResult cancelByTag(String tag);

  /**
   * Sends an event to the jobs of this application: those that name it in {@link
   * JobRequest#cancelOn} are cancelled, those that name it in {@link JobRequest#runOn} are due at
   * once. Schedulers remember it for jobs that are submitted later, by default for ten minutes. It
   * is safe to repeat the call.
   *
   * @param name such as {@code order.paid}: 1 to 128 characters of {@code [A-Za-z0-9._:-]}
   * @param key what the event is about: 1 to 64 printable ASCII characters without spaces and
   *     commas
   * @throws InvalidJobException if a value is out of range
   */
  EventResult event(String name, String key);

  /**
   * What an event did.
   *
   * @param items the jobs that were found
   * @param onCommit whether the call was made inside of a transaction: the event comes when that
   *     has committed, and there are no items
   */
  record EventResult(List<Item> items, boolean onCommit) {

    /** Copies the items. */
    public EventResult {
      items = List.copyOf(items);
    }

    /** What became of one job. */
    public record Item(String taskType, String taskId, EventResult.Outcome outcome) {}

    /** The cases. */
    public enum Outcome {
      /** It will not run. */
      CANCELLED,
      /** A worker has it, and is told to stop, see {@link Running#INTERRUPT}. */
      CANCELLING,
      /** It is due now. */
      DUE,
      /** A worker has it already. */
      IN_DELIVERY,
      /** It is a dead letter, and was not changed. */
      DEAD
    }
  }

  /** Gives a waiting job another due time. */
  RescheduleResult reschedule(String taskType, String taskId, Instant dueAt);

  /** Makes a waiting job due that long from now, by the scheduler's clock. */
  RescheduleResult reschedule(String taskType, String taskId, Duration delay);

  /** Makes a waiting job due now. */
  default RescheduleResult runNow(String taskType, String taskId) {
    return reschedule(taskType, taskId, Duration.ZERO);
  }

  /**
   * Says that a job which went on without its worker ({@link TaskContext#defer}) is done. Counts
   * also where its time was up and it is delivered again, as long as it is there.
   *
   * @param handle as {@link TaskContext#defer} returned it
   * @throws InvalidJobException if it is no such handle
   */
  DeferralResult finish(String handle);

  /**
   * Says that a job which went on without its worker failed: it is tried again as its retry policy
   * says, or is a dead letter after its last attempt.
   *
   * @param reason why, in words for whoever looks at the job
   * @throws InvalidJobException if the handle is none
   */
  default DeferralResult fail(String handle, String reason) {
    return fail(handle, reason, null);
  }

  /**
   * As {@link #fail(String, String)}, with a time of its own.
   *
   * @param delay until the next attempt, zero or more, at most {@link Limits#MAX_RETRY_DELAY}; null
   *     leaves it to the retry policy
   * @throws InvalidJobException if the handle is none, or the delay out of range
   */
  DeferralResult fail(String handle, String reason, @Nullable Duration delay);

  /**
   * Says that a job which went on without its worker can never succeed: it is a dead letter.
   *
   * @param reason why, in words for whoever looks at the dead letter
   * @throws InvalidJobException if the handle is none
   */
  DeferralResult reject(String handle, String reason);

  /**
   * Gives a job that goes on without its worker more time: it must be finished that long from now,
   * unless it is later already. At once, also inside of a transaction.
   *
   * @param within {@link Limits#MIN_TIME_TO_RUN} to {@link Limits#MAX_DEFERRAL}
   * @throws InvalidJobException if the handle is none, or the time out of range
   */
  DeferralResult extend(String handle, Duration within);

  /**
   * Lets a dead letter wait again, due now, with all its attempts. At once, also inside of a
   * transaction.
   */
  RequeueResult requeue(String taskType, String taskId);

  /** Lists the eldest dead letters of a task type, {@link Limits#MAX_DEAD_LETTERS} at most. */
  default List<JobInfo> deadLetters(String taskType) {
    return deadLetters(taskType, Limits.MAX_DEAD_LETTERS);
  }

  /**
   * Lists dead letters of a task type, the eldest first. They come without their params and
   * headers, which {@link #find} has.
   *
   * @param max most of them, 1 to {@link Limits#MAX_DEAD_LETTERS}
   * @throws InvalidJobException if the number is out of range
   */
  List<JobInfo> deadLetters(String taskType, int max);

  /**
   * Looks at a job: where it is, and what went wrong last.
   *
   * @return empty if none of this id is known; it never was, or is long gone
   */
  Optional<JobInfo> find(String taskType, String taskId);
}
