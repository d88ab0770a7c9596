package io.punctual;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * Hands jobs to the scheduler. Safe for use by many threads.
 *
 * <p>Every call blocks until the scheduler has answered. All calls may be repeated: a job is known
 * by its task id.
 *
 * <p>All methods throw {@link SchedulerUnavailableException} when no scheduler answered (the
 * outcome is then unknown: repeat the call with the same id), and {@link InvalidJobException} when
 * the scheduler refused the input.
 */
public interface TaskSubmitService {

  /**
   * Submits one job. Once this returns, the job is stored.
   *
   * @throws JobConflictException if another job with this id and other content is there
   */
  SubmitResult send(DelayQueueJob job);

  /**
   * Submits a job with a random id.
   *
   * @param params text for the worker
   * @param delay how long from now, by the scheduler's clock
   */
  default SubmitResult send(String taskType, String params, Duration delay) {
    return send(DelayQueueJob.of(taskType).params(params).delay(delay).build());
  }

  /**
   * Submits many jobs, of any task types, at most {@link Limits#MAX_BATCH}. One bad job does not
   * hurt the others.
   *
   * @return an answer for each job, in the order given
   */
  List<BatchItem> sendAll(List<DelayQueueJob> jobs);

  /** Cancels a waiting job. */
  CancelResult cancel(String taskType, String taskId);

  /** Gives a waiting job another due time. */
  RescheduleResult reschedule(String taskType, String taskId, Instant dueAt);

  /** Makes a waiting job due that long from now, by the scheduler's clock. */
  RescheduleResult reschedule(String taskType, String taskId, Duration delay);
}
