package io.punctual.spring.outbox;

import io.punctual.BatchItem;
import io.punctual.CancelResult;
import io.punctual.DeferralResult;
import io.punctual.DelayQueueJob;
import io.punctual.ErrorCode;
import io.punctual.InvalidJobException;
import io.punctual.JobInfo;
import io.punctual.PunctualException;
import io.punctual.RequeueResult;
import io.punctual.RescheduleResult;
import io.punctual.SchedulerUnavailableException;
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
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Remembers what it took; refuses or fails as it is told. */
final class RememberingScheduler implements JobScheduler {

  private final List<String> calls = new ArrayList<>();
  private final List<DelayQueueJob> jobs = new ArrayList<>();
  private final AtomicInteger requests = new AtomicInteger();
  private volatile boolean unavailable;
  private volatile boolean moody;
  private final Map<String, Integer> failed = new ConcurrentHashMap<>();
  private volatile String refused = "";
  private volatile ErrorCode refusal = ErrorCode.CONFLICT;
  private volatile String broken = "nothing";
  private volatile boolean batchesRefused;
  private volatile String slow = "";
  private final AtomicInteger slowCalls = new AtomicInteger();
  private final AtomicInteger brokenOff = new AtomicInteger();
  private final CountDownLatch answer = new CountDownLatch(1);

  void unavailable(boolean now) {
    unavailable = now;
  }

  /** A call in five fails, each twice at most; half of these arrive all the same. */
  void failSometimes() {
    moody = true;
  }

  void refuse(String target, ErrorCode code) {
    refusal = code;
    refused = target;
  }

  /** Calls of such jobs are answered by nobody, nor are requests with one of them. */
  void breakDown(String target) {
    broken = target;
  }

  /** Takes jobs one by one alone. */
  void refuseBatches() {
    batchesRefused = true;
  }

  /** Such calls have no answer until {@link #answer}. */
  void leaveUnanswered(String call) {
    slow = call;
  }

  /** How many calls there were that had to wait for their answer. */
  int slowCalls() {
    return slowCalls.get();
  }

  /** How many of them were interrupted. */
  int brokenOff() {
    return brokenOff.get();
  }

  void answer() {
    answer.countDown();
  }

  synchronized List<String> calls() {
    return List.copyOf(calls);
  }

  synchronized List<DelayQueueJob> jobs() {
    return List.copyOf(jobs);
  }

  int requests() {
    return requests.get();
  }

  /** What was done to a job, each kind of call once, in the order of their last arrival. */
  synchronized List<String> madeOf(String target) {
    List<String> kinds = new ArrayList<>();
    for (String call : calls) {
      String[] words = call.split(" ", -1);
      if (words[1].equals(target)
          && (kinds.isEmpty() || !kinds.get(kinds.size() - 1).equals(words[0]))) {
        kinds.add(words[0]);
      }
    }
    return kinds;
  }

  private void take(String call) {
    take(call, null);
  }

  private void take(String call, @Nullable DelayQueueJob job) {
    if (unavailable || call.contains(" " + broken)) {
      throw new SchedulerUnavailableException(
          "nobody answers, as asked", Duration.ofSeconds(1), new IllegalStateException());
    }
    if (call.equals(slow)) {
      slowCalls.incrementAndGet();
      awaitAnswer();
    }
    int mood = moody ? ThreadLocalRandom.current().nextInt(10) : 9;
    if (mood < 2 && failed.merge(call, 1, Integer::sum) > 2) {
      mood = 9;
    }
    if (mood == 0) {
      throw new PunctualException(ErrorCode.TOO_MANY, "not now, as asked");
    }
    if (!refused.isEmpty() && call.equals("send " + refused)) {
      throw new PunctualException(refusal, "refused, as asked");
    }
    synchronized (this) {
      calls.add(call);
      if (job != null) {
        jobs.add(job);
      }
    }
    if (mood == 1) {
      throw new PunctualException(ErrorCode.TOO_MANY, "the answer is lost, as asked");
    }
  }

  private void awaitAnswer() {
    try {
      if (!answer.await(60, TimeUnit.SECONDS)) {
        throw new IllegalStateException("nobody wanted an answer");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      brokenOff.incrementAndGet();
      throw new SchedulerUnavailableException("interrupted", Duration.ofSeconds(1), e);
    }
  }

  @Override
  public SubmitResult submit(DelayQueueJob job) {
    requests.incrementAndGet();
    return stored(job);
  }

  private static String name(DelayQueueJob job) {
    return job.taskType() + "/" + job.taskId();
  }

  private SubmitResult stored(DelayQueueJob job) {
    take("send " + name(job), job);
    return new SubmitResult(job.taskId(), Instant.EPOCH, SubmitResult.Outcome.CREATED, 1, "");
  }

  @Override
  public List<BatchItem> submitAll(List<DelayQueueJob> all) {
    requests.incrementAndGet();
    if (batchesRefused) {
      throw new InvalidJobException("too much at once, as asked");
    } else if (all.stream().anyMatch(job -> name(job).startsWith(broken))) {
      throw new SchedulerUnavailableException(
          "the request broke down, as asked", Duration.ofSeconds(1), new IllegalStateException());
    }
    List<BatchItem> items = new ArrayList<>();
    for (DelayQueueJob job : all) {
      try {
        items.add(new BatchItem(job.taskId(), stored(job), null));
      } catch (SchedulerUnavailableException e) {
        throw e;
      } catch (PunctualException e) {
        items.add(new BatchItem(job.taskId(), null, e));
      }
    }
    return items;
  }

  @Override
  public CancelResult cancel(String taskType, String taskId, Running running) {
    take("cancel " + taskType + "/" + taskId + (running == Running.INTERRUPT ? " interrupt" : ""));
    return new CancelResult(CancelResult.Outcome.CANCELLED, 0, 0, "");
  }

  @Override
  public EventResult event(DelayQueueJob.Event event) {
    take("event " + event.name() + " " + event.key());
    return new EventResult(List.of(), false);
  }

  @Override
  public TagCancelResult cancelByTag(String tag) {
    take("cancelByTag " + tag);
    return TagCancelResult.of(List.of());
  }

  @Override
  public RescheduleResult reschedule(String taskType, String taskId, Instant dueAt) {
    take("reschedule " + taskType + "/" + taskId + " " + dueAt);
    return new RescheduleResult(RescheduleResult.Outcome.RESCHEDULED, dueAt, 0, 0, "");
  }

  @Override
  public RescheduleResult reschedule(String taskType, String taskId, Duration delay) {
    take("reschedule " + taskType + "/" + taskId + " " + delay);
    return new RescheduleResult(RescheduleResult.Outcome.RESCHEDULED, Instant.EPOCH, 0, 0, "");
  }

  @Override
  public DeferralResult finish(String handle) {
    take("finish " + handle);
    return new DeferralResult(DeferralResult.Outcome.DONE, null);
  }

  @Override
  public DeferralResult fail(String handle, String reason, @Nullable Duration delay) {
    take("fail " + handle + " " + reason + " " + delay);
    return new DeferralResult(DeferralResult.Outcome.RETRY, Instant.EPOCH);
  }

  @Override
  public DeferralResult reject(String handle, String reason) {
    take("reject " + handle + " " + reason);
    return new DeferralResult(DeferralResult.Outcome.DEAD, null);
  }

  @Override
  public DeferralResult extend(String handle, Duration within) {
    take("extend " + handle + " " + within);
    return new DeferralResult(DeferralResult.Outcome.EXTENDED, Instant.EPOCH);
  }

  @Override
  public RestoreResult restore(String taskType, String taskId) {
    return RestoreResult.refused(RestoreResult.Outcome.UNKNOWN);
  }

  @Override
  public RequeueResult requeue(String taskType, String taskId) {
    return new RequeueResult(RequeueResult.Outcome.UNKNOWN, 0, "");
  }

  @Override
  public List<JobInfo> deadLetters(String taskType, int max) {
    return List.of();
  }

  @Override
  public Optional<JobInfo> find(String taskType, String taskId) {
    return Optional.empty();
  }

  @Override
  public ScheduleResult put(Schedule schedule) {
    throw new UnsupportedOperationException("schedules do not pass through the outbox");
  }

  @Override
  public boolean deleteSchedule(String taskType, String id) {
    throw new UnsupportedOperationException("schedules do not pass through the outbox");
  }

  @Override
  public void declareSchedules(List<String> taskTypes) {
    throw new UnsupportedOperationException("schedules do not pass through the outbox");
  }

  @Override
  public StoreLosses storeLosses() {
    return new StoreLosses("a-store", Instant.EPOCH, Instant.EPOCH, List.of());
  }
}
