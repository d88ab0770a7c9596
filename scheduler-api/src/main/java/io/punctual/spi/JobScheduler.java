package io.punctual.spi;

import io.punctual.BatchItem;
import io.punctual.CancelResult;
import io.punctual.DeferralResult;
import io.punctual.DelayQueueJob;
import io.punctual.InvalidJobException;
import io.punctual.JobConflictException;
import io.punctual.JobInfo;
import io.punctual.RequeueResult;
import io.punctual.RescheduleResult;
import io.punctual.SchedulerUnavailableException;
import io.punctual.SubmitResult;
import io.punctual.TagCancelResult;
import io.punctual.TaskContext;
import io.punctual.TaskSubmitService;
import io.punctual.schedule.Schedule;
import io.punctual.schedule.ScheduleResult;
import io.punctual.wire.Limits;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Stores and changes the jobs of this application, at schedulers over HTTP or at an engine in this
 * process. The starters create one. Applications use {@link TaskSubmitService}, which converts
 * payloads and follows transactions.
 *
 * <p>Every call acts at once and blocks until it is answered. All calls may be repeated: a job is
 * known by its task id. Safe for use by many threads.
 *
 * <p>All methods throw {@link SchedulerUnavailableException} when nobody answered (the outcome is
 * then unknown), and {@link InvalidJobException} when the input was refused.
 */
public interface JobScheduler {

  /**
   * Stores one job.
   *
   * @throws JobConflictException if another job with this id and other content is there
   */
  SubmitResult submit(DelayQueueJob job);

  /**
   * Stores many jobs, at most {@link Limits#MAX_BATCH}; one bad job does not hurt the others.
   *
   * @return an answer for each job, in the order given
   */
  List<BatchItem> submitAll(List<DelayQueueJob> jobs);

  /** Cancels a waiting job. */
  default CancelResult cancel(String taskType, String taskId) {
    return cancel(taskType, taskId, TaskSubmitService.Running.LEAVE);
  }

  /** Cancels a job. */
  CancelResult cancel(String taskType, String taskId, TaskSubmitService.Running running);

  /** Undoes the cancel of a job. */
  TaskSubmitService.RestoreResult restore(String taskType, String taskId);

  /** Cancels all waiting jobs of the application that have this tag, of whatever task type. */
  TagCancelResult cancelByTag(String tag);

  /** Sends an event to the jobs of the application that name it. */
  TaskSubmitService.EventResult event(DelayQueueJob.Event event);

  /** Gives a waiting job another due time. */
  RescheduleResult reschedule(String taskType, String taskId, Instant dueAt);

  /** Makes a waiting job due that long from now, by the scheduler's clock. */
  RescheduleResult reschedule(String taskType, String taskId, Duration delay);

  /**
   * Ends a job that goes on without its worker: it is done.
   *
   * @param handle as {@link TaskContext#defer} returned it
   */
  DeferralResult finish(String handle);

  /**
   * Ends the attempt of such a job: it failed.
   *
   * @param delay until the next attempt; null leaves it to the retry policy
   */
  DeferralResult fail(String handle, String reason, @Nullable Duration delay);

  /** Ends such a job: never again. */
  DeferralResult reject(String handle, String reason);

  /** Gives such a job more time, from now. */
  DeferralResult extend(String handle, Duration within);

  /** Lets a dead letter wait again, due now, with all its attempts. */
  RequeueResult requeue(String taskType, String taskId);

  /**
   * Lists dead letters, the eldest first; without their params and headers.
   *
   * @param max most of them, 1 to {@link Limits#MAX_DEAD_LETTERS}
   */
  List<JobInfo> deadLetters(String taskType, int max);

  /** Looks at a job; empty if none of this id is known. */
  Optional<JobInfo> find(String taskType, String taskId);

  /** Creates or replaces a recurring schedule; the same again changes nothing. */
  ScheduleResult put(Schedule schedule);

  /** Deletes a recurring schedule; jobs that were submitted stay. False if there was none. */
  boolean deleteSchedule(String taskType, String id);

  /**
   * Declares the schedules that this instance has in its code: those whose id is one of these task
   * types, and no others. Repeat the call every few minutes: a schedule that no running instance
   * declares is shown as orphaned.
   */
  void declareSchedules(List<String> taskTypes);

  /** Returns what the store may have lost, as the scheduler read it last. */
  StoreLosses storeLosses();
}
