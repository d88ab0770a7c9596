package io.punctual.spring;

import io.punctual.BatchItem;
import io.punctual.CancelResult;
import io.punctual.DeferralResult;
import io.punctual.DelayQueueJob;
import io.punctual.ErrorCode;
import io.punctual.JobInfo;
import io.punctual.PunctualException;
import io.punctual.RequeueResult;
import io.punctual.RescheduleResult;
import io.punctual.SubmitResult;
import io.punctual.TagCancelResult;
import io.punctual.TaskSubmitService.EventResult;
import io.punctual.TaskSubmitService.RestoreResult;
import io.punctual.TaskSubmitService.Running;
import io.punctual.schedule.Schedule;
import io.punctual.schedule.ScheduleResult;
import io.punctual.spi.JobScheduler;
import io.punctual.spi.StoreLosses;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Writes down what it was asked, in order; takes everything but jobs of the type refused. */
final class RecordingScheduler implements JobScheduler {

  static final String REFUSED = "refused";

  final List<String> calls = new CopyOnWriteArrayList<>();
  final List<Schedule> schedules = new CopyOnWriteArrayList<>();
  final List<DelayQueueJob> jobs = new CopyOnWriteArrayList<>();

  /** Called at the begin of each call, by its thread. */
  volatile Consumer<String> before = call -> {};

  private void call(String call) {
    before.accept(call);
    calls.add(call);
  }

  @Override
  public SubmitResult submit(DelayQueueJob job) {
    call("submit " + job.taskId());
    return take(job);
  }

  @Override
  public List<BatchItem> submitAll(List<DelayQueueJob> all) {
    call("submitAll " + all.stream().map(DelayQueueJob::taskId).toList());
    List<BatchItem> items = new ArrayList<>();
    for (DelayQueueJob job : all) {
      try {
        items.add(new BatchItem(job.taskId(), take(job), null));
      } catch (PunctualException e) {
        items.add(new BatchItem(job.taskId(), null, e));
      }
    }
    return items;
  }

  private SubmitResult take(DelayQueueJob job) {
    if (job.taskType().equals(REFUSED)) {
      throw new PunctualException(ErrorCode.CONFLICT, "refused, as asked");
    }
    jobs.add(job);
    return new SubmitResult(job.taskId(), Instant.EPOCH, SubmitResult.Outcome.CREATED, 1, "");
  }

  @Override
  public CancelResult cancel(String taskType, String taskId, Running running) {
    call("cancel " + taskId + (running == Running.INTERRUPT ? " interrupt" : ""));
    return new CancelResult(CancelResult.Outcome.CANCELLED, 0, 0, "");
  }

  @Override
  public EventResult event(DelayQueueJob.Event event) {
    call("event " + event.name() + " " + event.key());
    return new EventResult(List.of(), false);
  }

  @Override
  public TagCancelResult cancelByTag(String tag) {
    call("cancelByTag " + tag);
    return TagCancelResult.of(List.of());
  }

  @Override
  public RescheduleResult reschedule(String taskType, String taskId, Instant dueAt) {
    call("reschedule " + taskId + " " + dueAt);
    return new RescheduleResult(RescheduleResult.Outcome.RESCHEDULED, dueAt, 0, 0, "");
  }

  @Override
  public RescheduleResult reschedule(String taskType, String taskId, Duration delay) {
    call("reschedule " + taskId + " " + delay);
    return new RescheduleResult(RescheduleResult.Outcome.RESCHEDULED, Instant.EPOCH, 0, 0, "");
  }

  @Override
  public DeferralResult finish(String handle) {
    call("finish " + handle);
    return new DeferralResult(DeferralResult.Outcome.DONE, null);
  }

  @Override
  public DeferralResult fail(String handle, String reason, @Nullable Duration delay) {
    call("fail " + handle + " " + reason + " " + delay);
    return new DeferralResult(DeferralResult.Outcome.RETRY, Instant.EPOCH);
  }

  @Override
  public DeferralResult reject(String handle, String reason) {
    call("reject " + handle + " " + reason);
    return new DeferralResult(DeferralResult.Outcome.DEAD, null);
  }

  @Override
  public DeferralResult extend(String handle, Duration within) {
    call("extend " + handle + " " + within);
    return new DeferralResult(DeferralResult.Outcome.EXTENDED, Instant.EPOCH);
  }

  @Override
  public RestoreResult restore(String taskType, String taskId) {
    calls.add("restore " + taskId);
    return new RestoreResult(RestoreResult.Outcome.RESTORED, null, 3, "redis");
  }

  @Override
  public RequeueResult requeue(String taskType, String taskId) {
    calls.add("requeue " + taskId);
    return new RequeueResult(RequeueResult.Outcome.REQUEUED, 2, "redis");
  }

  @Override
  public List<JobInfo> deadLetters(String taskType, int max) {
    calls.add("deadLetters " + taskType + " " + max);
    return List.of();
  }

  @Override
  public Optional<JobInfo> find(String taskType, String taskId) {
    call("find " + taskId);
    return Optional.empty();
  }

  @Override
  public ScheduleResult put(Schedule schedule) {
    call("put " + schedule.id());
    if (schedule.taskType().equals(REFUSED)) {
      throw new PunctualException(ErrorCode.INVALID, "refused, as asked");
    }
    schedules.add(schedule);
    return new ScheduleResult(ScheduleResult.Outcome.CREATED, Instant.EPOCH);
  }

  @Override
  public boolean deleteSchedule(String taskType, String id) {
    call("deleteSchedule " + id);
    return true;
  }

  @Override
  public void declareSchedules(List<String> taskTypes) {
    call("declare " + String.join(",", taskTypes));
  }

  @Override
  public StoreLosses storeLosses() {
    return new StoreLosses("a-store", Instant.EPOCH, Instant.EPOCH, List.of());
  }
}
