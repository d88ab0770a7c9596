package io.punctual.spring;

import io.punctual.BatchItem;
import io.punctual.CancelResult;
import io.punctual.DeferralResult;
import io.punctual.DelayQueueJob;
import io.punctual.InvalidJobException;
import io.punctual.JobInfo;
import io.punctual.JobRequest;
import io.punctual.RequeueResult;
import io.punctual.RescheduleResult;
import io.punctual.RetryPolicy;
import io.punctual.SubmitResult;
import io.punctual.TagCancelResult;
import io.punctual.TaskSubmitService;
import io.punctual.conflict.OnConflict;
import io.punctual.internal.AttemptToken;
import io.punctual.schedule.ScheduleRequest;
import io.punctual.spi.JobScheduler;
import io.punctual.wire.Limits;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/**
 * The service that applications inject. It submits to schedulers, or to the engine in this process.
 */
public final class SpringTaskSubmitService implements TaskSubmitService {

  private static final String SPRING_TX =
      "org.springframework.transaction.support.TransactionSynchronizationManager";

  private final JobScheduler scheduler;
  private final Payloads payloads;
  private final Function<String, WorkerSettings> settings;
  // The first that can keep calls with this thread's transaction does.
  private final List<TransactionCalls> keepers;
  private final InstantSource time;
  private final SubmitObservations observations;

  /**
   * Stands before a scheduler.
   *
   * @param settings what is set for a task type, for jobs that do not say it themselves
   * @param committed makes the calls of transactions that have committed
   * @param time by which it is foretold when a job is due that waits for a commit
   * @param outbox asked first where calls made inside of a transaction are kept; null for none
   * @param observations of each submit
   */
  public SpringTaskSubmitService(
      JobScheduler scheduler,
      Payloads payloads,
      Function<String, WorkerSettings> settings,
      Transactions transactions,
      CommittedCalls committed,
      InstantSource time,
      @Nullable TransactionCalls outbox,
      SubmitObservations observations) {
    this.scheduler = scheduler;
    this.payloads = payloads;
    this.settings = settings;
    this.time = time;
    this.observations = observations;
    List<TransactionCalls> known = new ArrayList<>();
    if (outbox != null) {
      known.add(outbox);
    }
    if (transactions == Transactions.AFTER_COMMIT && ClassUtils.isPresent(SPRING_TX, null)) {
      known.add(new AfterCommit(committed));
    }
    this.keepers = List.copyOf(known);
  }

  /** Where calls wait, if they have to: this thread is in a transaction. */
  private @Nullable TransactionCalls waiting() {
    for (TransactionCalls keeper : keepers) {
      if (keeper.isInTransaction()) {
        return keeper;
      }
    }
    return null;
  }

  @Override
  public SubmitResult send(DelayQueueJob given) {
    return observations.send(complete(given), this::submit);
  }

  private SubmitResult submit(DelayQueueJob job) {
    TransactionCalls waiting = waiting();
    if (waiting == null) {
      return scheduler.submit(job);
    }
    requireOwnId(job);
    waiting.add(List.of(new DeferredCall.Send(job)));
    return onCommit(job);
  }

  /** As schedulers check it: after the commit it is too late. */
  private static void requireOwnId(DelayQueueJob job) {
    if (!Limits.isName(job.taskId())) {
      throw new InvalidJobException(
          "taskId " + Limits.NAME_RULE + "; ids with @ are those of the jobs of schedules");
    }
  }

  private DelayQueueJob complete(DelayQueueJob job) {
    return settings.apply(job.taskType()).complete(job);
  }

  private SubmitResult onCommit(DelayQueueJob job) {
    Long at = job.delayTime();
    Duration delay = job.delay();
    return new SubmitResult(
        job.taskId(),
        at != null
            ? Instant.ofEpochMilli(at)
            : time.instant().plus(delay == null ? Duration.ZERO : delay),
        SubmitResult.Outcome.ON_COMMIT,
        0,
        "");
  }

  @Override
  public JobRequest job(String taskType, @Nullable Object payload) {
    return new Request(DelayQueueJob.of(taskType).params(payloads.write(taskType, payload)));
  }

  @Override
  public ScheduleRequest schedule(String taskType, @Nullable Object payload) {
    return new SpringScheduleRequest(
        taskType, payloads.write(taskType, payload), settings.apply(taskType), scheduler::put);
  }

  @Override
  public boolean deleteSchedule(String taskType, String id) {
    return scheduler.deleteSchedule(taskType, id);
  }

  @Override
  public List<BatchItem> sendAll(List<DelayQueueJob> given) {
    return observations.sendAll(given.stream().map(this::complete).toList(), this::submitAll);
  }

  private List<BatchItem> submitAll(List<DelayQueueJob> jobs) {
    TransactionCalls waiting = waiting();
    if (waiting == null) {
      return scheduler.submitAll(jobs);
    } else if (jobs.size() > Limits.MAX_BATCH) {
      throw new InvalidJobException(
          "jobs: at most " + Limits.MAX_BATCH + " are allowed in one call, not " + jobs.size());
    }
    jobs.forEach(SpringTaskSubmitService::requireOwnId);
    waiting.add(jobs.stream().map(DeferredCall.Send::new).toList());
    return jobs.stream().map(job -> new BatchItem(job.taskId(), onCommit(job), null)).toList();
  }

  @Override
  public CancelResult cancel(String taskType, String taskId, Running running) {
    TransactionCalls waiting = waiting();
    if (waiting == null) {
      return scheduler.cancel(taskType, taskId, running);
    }
    check(DelayQueueJob.of(taskType).taskId(taskId).delay(Duration.ZERO));
    waiting.add(List.of(new DeferredCall.Cancel(taskType, taskId, running)));
    return new CancelResult(CancelResult.Outcome.ON_COMMIT, 0, 0, "");
  }

  @Override
  public TagCancelResult cancelByTag(String tag) {
    TransactionCalls waiting = waiting();
    if (waiting == null) {
      return scheduler.cancelByTag(tag);
    } else if (!Limits.TAG.matcher(tag).matches()) {
      throw new InvalidJobException("tag " + Limits.TAG_RULE);
    }
    waiting.add(List.of(new DeferredCall.CancelByTag(tag)));
    return new TagCancelResult(List.of(), true);
  }

  @Override
  public EventResult event(String name, String key) {
    DelayQueueJob.Event event;
    try {
      event = new DelayQueueJob.Event(name, key);
    } catch (IllegalArgumentException e) {
      throw invalid(e);
    }
    TransactionCalls waiting = waiting();
    if (waiting == null) {
      return scheduler.event(event);
    }
    waiting.add(List.of(new DeferredCall.Event(event)));
    return new EventResult(List.of(), true);
  }

  @Override
  public RescheduleResult reschedule(String taskType, String taskId, Instant dueAt) {
    TransactionCalls waiting = waiting();
    if (waiting == null) {
      return scheduler.reschedule(taskType, taskId, dueAt);
    }
    check(DelayQueueJob.of(taskType).taskId(taskId).dueAt(dueAt));
    waiting.add(List.of(new DeferredCall.Reschedule(taskType, taskId, dueAt, null)));
    return new RescheduleResult(RescheduleResult.Outcome.ON_COMMIT, null, 0, 0, "");
  }

  @Override
  public RescheduleResult reschedule(String taskType, String taskId, Duration delay) {
    TransactionCalls waiting = waiting();
    if (waiting == null) {
      return scheduler.reschedule(taskType, taskId, delay);
    }
    check(DelayQueueJob.of(taskType).taskId(taskId).delay(delay));
    waiting.add(List.of(new DeferredCall.Reschedule(taskType, taskId, null, delay)));
    return new RescheduleResult(RescheduleResult.Outcome.ON_COMMIT, null, 0, 0, "");
  }

  @Override
  public DeferralResult finish(String handle) {
    TransactionCalls waiting = waiting();
    if (waiting == null) {
      return scheduler.finish(handle);
    }
    return onCommit(waiting, handle, new DeferredCall.Finish(handle));
  }

  @Override
  public DeferralResult fail(String handle, String reason, @Nullable Duration delay) {
    TransactionCalls waiting = waiting();
    if (waiting == null) {
      return scheduler.fail(handle, reason, delay);
    } else if (delay != null
        && (delay.isNegative() || delay.compareTo(Limits.MAX_RETRY_DELAY) > 0)) {
      throw new InvalidJobException(
          "delay must be between 0 and " + Limits.MAX_RETRY_DELAY + ", not " + delay);
    }
    return onCommit(waiting, handle, new DeferredCall.Fail(handle, reason, delay));
  }

  @Override
  public DeferralResult reject(String handle, String reason) {
    TransactionCalls waiting = waiting();
    if (waiting == null) {
      return scheduler.reject(handle, reason);
    }
    return onCommit(waiting, handle, new DeferredCall.Reject(handle, reason));
  }

  private static DeferralResult onCommit(
      TransactionCalls waiting, String handle, DeferredCall call) {
    var unused = AttemptToken.ofHandle(handle);
    waiting.add(List.of(call));
    return new DeferralResult(DeferralResult.Outcome.ON_COMMIT, null);
  }

  @Override
  public DeferralResult extend(String handle, Duration within) {
    return scheduler.extend(handle, within);
  }

  /** The job of a call that will be made behind the commit, where nobody hears of its mistakes. */
  private static void check(DelayQueueJob.Builder parts) {
    var unused = build(parts);
  }

  private static DelayQueueJob build(DelayQueueJob.Builder job) {
    try {
      return job.build();
    } catch (IllegalArgumentException e) {
      throw invalid(e);
    }
  }

  private static InvalidJobException invalid(IllegalArgumentException e) {
    InvalidJobException invalid = new InvalidJobException(String.valueOf(e.getMessage()));
    invalid.initCause(e);
    return invalid;
  }

  @Override
  public RestoreResult restore(String taskType, String taskId) {
    return scheduler.restore(taskType, taskId);
  }

  @Override
  public RequeueResult requeue(String taskType, String taskId) {
    return scheduler.requeue(taskType, taskId);
  }

  @Override
  public List<JobInfo> deadLetters(String taskType, int max) {
    return scheduler.deadLetters(taskType, max);
  }

  @Override
  public Optional<JobInfo> find(String taskType, String taskId) {
    return scheduler.find(taskType, taskId);
  }

  /** Collects the parts of a job; they are checked together, when it is built. */
  private final class Request implements JobRequest {

    private final DelayQueueJob.Builder job;

    Request(DelayQueueJob.Builder job) {
      this.job = job;
    }

    @Override
    public JobRequest id(String taskId) {
      var unused = job.taskId(taskId);
      return this;
    }

    @Override
    public JobRequest in(Duration delay) {
      var unused = job.delay(delay);
      return this;
    }

    @Override
    public JobRequest at(Instant dueAt) {
      var unused = job.dueAt(dueAt);
      return this;
    }

    @Override
    public JobRequest tag(String tag) {
      var unused = job.tag(tag);
      return this;
    }

    @Override
    public JobRequest cancelOn(String name, String key) {
      return event(() -> job.cancelOn(name, key));
    }

    @Override
    public JobRequest runOn(String name, String key) {
      return event(() -> job.runOn(name, key));
    }

    private JobRequest event(Supplier<DelayQueueJob.Builder> added) {
      try {
        var unused = added.get();
      } catch (IllegalArgumentException e) {
        throw invalid(e);
      }
      return this;
    }

    @Override
    public JobRequest header(String name, String value) {
      var unused = job.header(name, value);
      return this;
    }

    @Override
    public JobRequest timeToRun(Duration timeToRun) {
      var unused = job.timeToRun(timeToRun);
      return this;
    }

    @Override
    public JobRequest retry(RetryPolicy retry) {
      var unused = job.retry(retry);
      return this;
    }

    @Override
    public JobRequest notAfter(Instant notAfter) {
      var unused = job.notAfter(notAfter);
      return this;
    }

    @Override
    public JobRequest expiresIn(Duration expiresIn) {
      var unused = job.expiresIn(expiresIn);
      return this;
    }

    @Override
    public JobRequest within(Duration within) {
      var unused = job.within(within);
      return this;
    }

    @Override
    public JobRequest window(String window, ZoneId zone) {
      var unused = job.window(window).windowZone(zone);
      return this;
    }

    @Override
    public JobRequest calendar(String name, ZoneId zone) {
      var unused = job.calendar(name).windowZone(zone);
      return this;
    }

    @Override
    public JobRequest replace() {
      var unused = job.onConflict(OnConflict.REPLACE);
      return this;
    }

    @Override
    public JobRequest debounce(Duration quiet, Duration atMost, OnConflict.Keep keep) {
      var unused = job.delay(quiet).onConflict(OnConflict.debounce(atMost, keep));
      return this;
    }

    @Override
    public JobRequest whileRunning(OnConflict.WhileRunning rule) {
      var unused = job.onConflict(OnConflict.whileRunning(rule));
      return this;
    }

    @Override
    public DelayQueueJob build() {
      return SpringTaskSubmitService.build(job);
    }

    @Override
    public SubmitResult send() {
      return SpringTaskSubmitService.this.send(build());
    }
  }
}
