package io.punctual.spring;

import io.punctual.DelayQueueJob;
import io.punctual.JobScheduler;
import io.punctual.spring.CommitFailures.Call;
import io.punctual.wire.AttemptToken;
import java.time.Duration;
import java.time.Instant;
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

  /** Makes the call, at once. */
  void make(JobScheduler scheduler);

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
    public void make(JobScheduler scheduler) {
      var unused = scheduler.submit(job);
    }
  }

  /** A job to be cancelled. */
  record Cancel(String taskType, String taskId) implements DeferredCall {
    @Override
    public Call kind() {
      return Call.CANCEL;
    }

    @Override
    public String target() {
      return taskType + "/" + taskId;
    }

    @Override
    public void make(JobScheduler scheduler) {
      var unused = scheduler.cancel(taskType, taskId);
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
    public void make(JobScheduler scheduler) {
      var unused = scheduler.cancelByTag(tag);
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
    public void make(JobScheduler scheduler) {
      var unused = scheduler.finish(handle);
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
    public void make(JobScheduler scheduler) {
      var unused = scheduler.fail(handle, reason, delay);
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
    public void make(JobScheduler scheduler) {
      var unused = scheduler.reject(handle, reason);
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
    public void make(JobScheduler scheduler) {
      if (dueAt != null) {
        var unused = scheduler.reschedule(taskType, taskId, dueAt);
      } else if (delay != null) {
        var unused = scheduler.reschedule(taskType, taskId, delay);
      }
    }
  }
}
