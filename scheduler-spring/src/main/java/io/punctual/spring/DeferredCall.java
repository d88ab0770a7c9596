package io.punctual.spring;

import io.punctual.DelayQueueJob;
import io.punctual.JobInfo;
import io.punctual.SubmitResult;
import io.punctual.TaskSubmitService.Running;
import io.punctual.conflict.OnConflict;
import io.punctual.internal.AttemptToken;
import io.punctual.spi.JobScheduler;
import io.punctual.spring.CommitFailures.Call;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A call that changes something, asked for inside of a transaction, to be made when it has
 * committed.
 */
public sealed interface DeferredCall {

  /** The lane and the task type of what concerns jobs of any type. */
  String ALL_JOBS = "*";

  /** What it does. */
  Call kind();

  /** Returns the job, or {@link #ALL_JOBS}: calls of one lane are made in their order. */
  default String lane() {
    return target();
  }

  /** Returns the task type of the job, or {@link #ALL_JOBS}. */
  default String taskType() {
    int end = lane().indexOf('/');
    return end < 0 ? lane() : lane().substring(0, end);
  }

  /** The job, as task type and id, or the tag; for people. */
  String target();

  /**
   * Makes the call, at once.
   *
   * @return what the scheduler answered
   */
  Object make(JobScheduler scheduler);

  /** A job to be stored. */
  record Send(DelayQueueJob job) implements DeferredCall {
    @Override
    public Call kind() {
      return Call.SEND;
    }

    @Override
    public String target() {
      return job.taskType() + "/" + job.taskId();
    }

    @Override
    public Object make(JobScheduler scheduler) {
      return scheduler.submit(job);
    }
  }

  /** A job to be cancelled. */
  record Cancel(String taskType, String taskId, Running running) implements DeferredCall {

    /** Leaves a job alone that a worker has. */
    public Cancel(String taskType, String taskId) {
      this(taskType, taskId, Running.LEAVE);
    }

    @Override
    public Call kind() {
      return Call.CANCEL;
    }

    @Override
    public String target() {
      return taskType + "/" + taskId;
    }

    @Override
    public Object make(JobScheduler scheduler) {
      return scheduler.cancel(taskType, taskId, running);
    }
  }

  /** Jobs of any task type to be cancelled. */
  record CancelByTag(String tag) implements DeferredCall {
    @Override
    public Call kind() {
      return Call.CANCEL_BY_TAG;
    }

    @Override
    public String target() {
      return tag;
    }

    @Override
    public String lane() {
      return ALL_JOBS;
    }

    @Override
    public Object make(JobScheduler scheduler) {
      return scheduler.cancelByTag(tag);
    }
  }

  /**
   * An event that has come. It has another lane than jobs: a job that is sent later hears of it,
   * too.
   */
  record Event(DelayQueueJob.Event event) implements DeferredCall {

    /** The lane and the task type of events: no task type begins so. */
    public static final String EVENTS = "!events";

    @Override
    public Call kind() {
      return Call.EVENT;
    }

    @Override
    public String target() {
      return event.name() + "/" + event.key();
    }

    @Override
    public String lane() {
      return EVENTS + "/" + event.name();
    }

    @Override
    public Object make(JobScheduler scheduler) {
      return scheduler.event(event);
    }
  }

  /** A job that went on without its worker, and is done. */
  record Finish(String handle) implements DeferredCall {
    @Override
    public Call kind() {
      return Call.FINISH;
    }

    @Override
    public String target() {
      return targetOf(handle);
    }

    @Override
    public Object make(JobScheduler scheduler) {
      return scheduler.finish(handle);
    }
  }

  /**
   * A job that went on without its worker, and failed.
   *
   * @param delay null for the retry policy's
   */
  record Fail(String handle, String reason, @Nullable Duration delay) implements DeferredCall {
    @Override
    public Call kind() {
      return Call.FAIL;
    }

    @Override
    public String target() {
      return targetOf(handle);
    }

    @Override
    public Object make(JobScheduler scheduler) {
      return scheduler.fail(handle, reason, delay);
    }
  }

  /** A job that went on without its worker, and can never succeed. */
  record Reject(String handle, String reason) implements DeferredCall {
    @Override
    public Call kind() {
      return Call.REJECT;
    }

    @Override
    public String target() {
      return targetOf(handle);
    }

    @Override
    public Object make(JobScheduler scheduler) {
      return scheduler.reject(handle, reason);
    }
  }

  /**
   * A job that the store may have lost, and that is to be there as it was: it never runs before its
   * due time, and one that is there and was tried already keeps its retry.
   *
   * @param job as it was sent; it replaces or gathers nothing now
   * @param dueAt as the scheduler answered it last, by the scheduler's clock
   * @param moved whether {@code dueAt} is that of a later move
   */
  record Restore(DelayQueueJob job, Instant dueAt, boolean moved) implements DeferredCall {

    /** A later submit may have taken its place by now. */
    public Restore {
      job = job.toBuilder().onConflict(OnConflict.REFUSE).build();
    }

    @Override
    public Call kind() {
      return Call.SEND;
    }

    @Override
    public String target() {
      return job.taskType() + "/" + job.taskId();
    }

    @Override
    public SubmitResult make(JobScheduler scheduler) {
      if (moved) {
        // As it was sent it may be due at once.
        Optional<JobInfo> found = scheduler.find(job.taskType(), job.taskId());
        if (found.isPresent() && found.get().state() == JobInfo.State.FINISHED) {
          return new SubmitResult(
              job.taskId(), found.get().at(), SubmitResult.Outcome.ALREADY_DONE, 0, "");
        }
        // One that was cancelled without the outbox comes back.
        if (found.isPresent() && found.get().state() != JobInfo.State.CANCELLED) {
          correct(scheduler, found.get());
          return new SubmitResult(
              job.taskId(), dueAt, SubmitResult.Outcome.ALREADY_THERE, found.get().version(), "");
        }
        return scheduler.submit(atDueTime());
      }
      SubmitResult result = scheduler.submit(job);
      if (job.delay() != null && !result.dueAt().equals(dueAt)) {
        if (result.outcome() == SubmitResult.Outcome.CREATED) {
          var unused = scheduler.reschedule(job.taskType(), job.taskId(), dueAt);
        } else if (result.outcome() == SubmitResult.Outcome.ALREADY_THERE) {
          // A retry that waits; or a try before this one ended between the two calls.
          scheduler
              .find(job.taskType(), job.taskId())
              .ifPresent(found -> correct(scheduler, found));
        }
      }
      return result;
    }

    /** Returns the job with the due time that it had last. */
    public DelayQueueJob atDueTime() {
      Instant last = job.timeRules().notAfter();
      // One that was moved past its last moment expires; the spread is in the due time already.
      return job.toBuilder()
          .dueAt(last != null && !last.isAfter(dueAt) ? last.minusMillis(1) : dueAt)
          .within(null)
          .build();
    }

    private void correct(JobScheduler scheduler, JobInfo found) {
      if (found.state() == JobInfo.State.DELAYED
          && Objects.equals(found.attempts(), 0)
          && !found.at().equals(dueAt)) {
        var unused = scheduler.reschedule(job.taskType(), job.taskId(), dueAt);
      }
    }
  }

  private static String targetOf(String handle) {
    AttemptToken token = AttemptToken.parse(handle);
    return token.taskType() + "/" + token.taskId();
  }

  /**
   * A job that gets another due time.
   *
   * @param dueAt null where a delay is given
   * @param delay from when the call is made; null where a due time is given
   */
  record Reschedule(
      String taskType, String taskId, @Nullable Instant dueAt, @Nullable Duration delay)
      implements DeferredCall {

    /** Exactly one of the two must be given. */
    public Reschedule {
      if ((dueAt == null) == (delay == null)) {
        throw new IllegalArgumentException("exactly one of dueAt and delay must be given");
      }
    }

    @Override
    public Call kind() {
      return Call.RESCHEDULE;
    }

    @Override
    public String target() {
      return taskType + "/" + taskId;
    }

    @Override
    public Object make(JobScheduler scheduler) {
      return dueAt != null
          ? scheduler.reschedule(taskType, taskId, dueAt)
          : scheduler.reschedule(taskType, taskId, Objects.requireNonNull(delay));
    }
  }
}
