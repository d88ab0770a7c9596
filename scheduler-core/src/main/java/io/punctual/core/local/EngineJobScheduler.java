package io.punctual.core.local;

import io.punctual.BatchItem;
import io.punctual.CancelResult;
import io.punctual.DeferralResult;
import io.punctual.DelayQueueJob;
import io.punctual.ErrorCode;
import io.punctual.InvalidJobException;
import io.punctual.JobConflictException;
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
import io.punctual.core.ClaimToken;
import io.punctual.core.Claims;
import io.punctual.core.Engine;
import io.punctual.core.LossJournal;
import io.punctual.core.Operations;
import io.punctual.core.Operations.Listed;
import io.punctual.core.Operations.TagCursor;
import io.punctual.core.Schedules;
import io.punctual.core.Submit;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.JobState;
import io.punctual.core.job.JobVersion;
import io.punctual.core.job.QueueName;
import io.punctual.core.schedule.ScheduleDefinition;
import io.punctual.core.schedule.ScheduleName;
import io.punctual.core.store.Cancelled;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Requeued;
import io.punctual.core.store.Restored;
import io.punctual.core.store.Revised;
import io.punctual.core.store.Settled;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.query.JobView;
import io.punctual.internal.AttemptToken;
import io.punctual.schedule.Schedule;
import io.punctual.schedule.ScheduleResult;
import io.punctual.spi.JobScheduler;
import io.punctual.spi.StoreLosses;
import io.punctual.wire.Limits;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The jobs are with an engine of this process: in plugin mode, and in the test kit. What goes wrong
 * is told in the terms of {@link JobScheduler}.
 */
public final class EngineJobScheduler implements JobScheduler {

  private static final Duration RETRY_AFTER = Duration.ofSeconds(1);

  private final String application;
  private final Engine engine;

  /**
   * @param application whose jobs these are
   * @throws IllegalArgumentException if that is no name: {@link Limits#isName}
   */
  public EngineJobScheduler(String application, Engine engine) {
    // As queues have it.
    this.application = new QueueName(application, "any").application();
    this.engine = engine;
  }

  @Override
  public SubmitResult submit(DelayQueueJob job) {
    return result(job, start(job));
  }

  @Override
  public List<BatchItem> submitAll(List<DelayQueueJob> jobs) {
    if (jobs.size() > Limits.MAX_BATCH) {
      throw new InvalidJobException(
          "jobs: at most " + Limits.MAX_BATCH + " are allowed in one call, not " + jobs.size());
    }
    // All at once: they share calls to the store.
    List<Supplier<SubmitResult>> answers = new ArrayList<>(jobs.size());
    for (DelayQueueJob job : jobs) {
      try {
        CompletableFuture<Submit> answer = start(job);
        answers.add(() -> result(job, answer));
      } catch (PunctualException e) {
        answers.add(
            () -> {
              throw e;
            });
      }
    }
    List<BatchItem> items = new ArrayList<>(jobs.size());
    for (int i = 0; i < jobs.size(); i++) {
      items.add(item(jobs.get(i).taskId(), answers.get(i)));
    }
    return items;
  }

  private static BatchItem item(String taskId, Supplier<SubmitResult> answer) {
    try {
      return new BatchItem(taskId, answer.get(), null);
    } catch (PunctualException e) {
      return new BatchItem(taskId, null, e);
    }
  }

  @Override
  public CancelResult cancel(String taskType, String taskId, Running running) {
    return stored(
        () ->
            cancelled(queue(taskType), Limits.requireTaskId(taskId), running == Running.INTERRUPT));
  }

  private CancelResult cancelled(QueueName queue, String taskId, boolean interrupt) {
    Cancelled cancelled = engine.operations().cancel(queue, taskId, null, interrupt);
    boolean changed =
        cancelled.kind() == Cancelled.Kind.CANCELLED
            || cancelled.kind() == Cancelled.Kind.CANCELLING;
    return new CancelResult(
        switch (cancelled.kind()) {
          case CANCELLED -> CancelResult.Outcome.CANCELLED;
          case CANCELLING -> CancelResult.Outcome.CANCELLING;
          case IN_DELIVERY -> CancelResult.Outcome.IN_DELIVERY;
          case DEAD -> CancelResult.Outcome.DEAD;
          case FINISHED -> CancelResult.Outcome.FINISHED;
          case UNKNOWN, CHANGED -> CancelResult.Outcome.UNKNOWN;
        },
        cancelled.attempt(),
        cancelled.version(),
        changed ? cancelled.reached().toString() : "");
  }

  @Override
  public RestoreResult restore(String taskType, String taskId) {
    return stored(
        () -> {
          Restored restored =
              engine.operations().restore(queue(taskType), Limits.requireTaskId(taskId));
          return switch (restored.kind()) {
            case RESTORED ->
                new RestoreResult(
                    RestoreResult.Outcome.RESTORED,
                    restored.due() > 0 ? Instant.ofEpochMilli(restored.due()) : null,
                    number(restored.version()),
                    restored.reached().toString());
            case EXISTS -> RestoreResult.refused(RestoreResult.Outcome.EXISTS);
            case FINISHED -> RestoreResult.refused(RestoreResult.Outcome.FINISHED);
            case TOO_LATE, TOO_LARGE, NOT_KEPT, CHANGED ->
                RestoreResult.refused(RestoreResult.Outcome.NOT_KEPT);
            case UNKNOWN -> RestoreResult.refused(RestoreResult.Outcome.UNKNOWN);
          };
        });
  }

  @Override
  public TagCancelResult cancelByTag(String tag) {
    if (!Limits.TAG.matcher(tag).matches()) {
      throw new InvalidJobException("tag " + Limits.TAG_RULE);
    }
    return stored(
        () -> {
          List<TagCancelResult.Item> items = new ArrayList<>();
          for (QueueName queue : engine.queues().keySet()) {
            if (queue.application().equals(application)) {
              cancelByTag(queue, tag, items);
            }
          }
          return TagCancelResult.of(items);
        });
  }

  private void cancelByTag(QueueName queue, String tag, List<TagCancelResult.Item> items) {
    @Nullable TagCursor after = null;
    do {
      if (Thread.currentThread().isInterrupted()) {
        throw new SchedulerUnavailableException(
            "interrupted while jobs were cancelled by their tag: some may be, some not;"
                + " repeat the call",
            RETRY_AFTER,
            new InterruptedException());
      }
      Listed<TagCursor> page = engine.operations().tagged(queue, tag, after, JobStore.MAX_JOBS);
      for (JobView job : page.jobs()) {
        items.add(
            new TagCancelResult.Item(
                queue.taskType(),
                job.taskId(),
                cancelled(queue, job.taskId(), /* interrupt= */ false).outcome()));
      }
      after = page.next();
    } while (after != null);
  }

  @Override
  public EventResult event(DelayQueueJob.Event event) {
    Operations.EventDone done = stored(() -> engine.operations().event(application, event));
    if (!done.damaged().isEmpty()) {
      throw new PunctualException(
          ErrorCode.INTERNAL,
          "The stored data of these queues is damaged, and their jobs may have missed the"
              + " event: "
              + done.damaged()
              + ". All other jobs have received it. Repair the data, and repeat the call");
    }
    return new EventResult(
        done.items().stream()
            .map(
                item ->
                    new EventResult.Item(
                        item.queue().taskType(),
                        item.taskId(),
                        EventResult.Outcome.valueOf(item.outcome().name())))
            .toList(),
        false);
  }

  @Override
  public RequeueResult requeue(String taskType, String taskId) {
    return stored(
        () -> {
          QueueName queue = queue(taskType);
          Requeued.Item requeued =
              engine.operations().requeue(queue, Limits.requireTaskId(taskId), null);
          if (requeued.kind() == Requeued.Kind.REQUEUED) {
            return new RequeueResult(
                RequeueResult.Outcome.REQUEUED,
                number(requeued.version()),
                requeued.reached().toString());
          }
          boolean known = engine.find(queue, taskId).isPresent();
          return new RequeueResult(
              known ? RequeueResult.Outcome.NOT_DEAD : RequeueResult.Outcome.UNKNOWN, 0, "");
        });
  }

  @Override
  public List<JobInfo> deadLetters(String taskType, int max) {
    if (max < 1 || max > Limits.MAX_DEAD_LETTERS) {
      throw new InvalidJobException(
          "max must be between 1 and " + Limits.MAX_DEAD_LETTERS + ", but was " + max);
    }
    return stored(
        () ->
            engine.operations().jobs(queue(taskType), JobState.DEAD, null, max).jobs().stream()
                .map(EngineJobScheduler::info)
                .toList());
  }

  @Override
  public Optional<JobInfo> find(String taskType, String taskId) {
    return stored(
        () ->
            engine
                .find(queue(taskType), Limits.requireTaskId(taskId))
                .map(EngineJobScheduler::info));
  }

  @Override
  public StoreLosses storeLosses() {
    LossJournal journal = engine.lossJournal();
    return new StoreLosses(
        journal.store() == null ? null : StoreLosses.PLUGIN + journal.store(),
        journal.now(),
        journal.begun(),
        journal.entries().stream()
            .map(entry -> new StoreLosses.Loss(entry.sequence(), entry.asOf()))
            .toList());
  }

  private static JobInfo info(JobView job) {
    JobInfo.State state = JobInfo.State.valueOf(job.state().name());
    boolean gone = state == JobInfo.State.FINISHED || state == JobInfo.State.CANCELLED;
    JobContent content = job.content();
    JobView.Failure last = job.lastFailure();
    return new JobInfo(
        job.queue().taskType(),
        job.taskId(),
        state,
        Instant.ofEpochMilli(job.at()),
        job.version(),
        gone ? null : job.tries().counted(),
        gone ? null : job.maxAttempts(),
        content == null ? null : content.params(),
        content == null ? Map.of() : content.headers(),
        job.tags(),
        last == null ? null : last.message(),
        job.restorableUntil() == null ? null : Instant.ofEpochMilli(job.restorableUntil()));
  }

  @Override
  public RescheduleResult reschedule(String taskType, String taskId, Instant dueAt) {
    if (dueAt.isBefore(Instant.EPOCH) || dueAt.isAfter(Limits.MAX_DUE)) {
      throw new InvalidJobException("dueAt must be between 1970 and " + Limits.MAX_DUE);
    }
    return reschedule(taskType, taskId, Due.at(dueAt.toEpochMilli()));
  }

  @Override
  public RescheduleResult reschedule(String taskType, String taskId, Duration delay) {
    if (delay.isNegative() || delay.compareTo(Duration.ofDays(2_900_000)) > 0) {
      throw new InvalidJobException("delay must be between 0 and the year 9999, not " + delay);
    }
    return reschedule(taskType, taskId, Due.in(delay.toMillis()));
  }

  private RescheduleResult reschedule(String taskType, String taskId, Due due) {
    return stored(() -> rescheduled(queue(taskType), Limits.requireTaskId(taskId), due));
  }

  private RescheduleResult rescheduled(QueueName queue, String taskId, Due due) {
    Revised revised = engine.operations().revise(queue, taskId, due, null, null);
    boolean moved = revised.kind() == Revised.Kind.REVISED;
    return new RescheduleResult(
        switch (revised.kind()) {
          case REVISED -> RescheduleResult.Outcome.RESCHEDULED;
          case IN_DELIVERY -> RescheduleResult.Outcome.IN_DELIVERY;
          case DEAD -> RescheduleResult.Outcome.DEAD;
          case FINISHED -> RescheduleResult.Outcome.FINISHED;
          case UNKNOWN, CHANGED -> RescheduleResult.Outcome.UNKNOWN;
        },
        moved ? Instant.ofEpochMilli(revised.due()) : null,
        revised.attempt(),
        number(revised.version()),
        moved ? revised.reached().toString() : "");
  }

  @Override
  public DeferralResult finish(String handle) {
    ClaimToken token = token(handle);
    return stored(() -> result(engine.claims().done(token).join()));
  }

  @Override
  public DeferralResult fail(String handle, String reason, @Nullable Duration delay) {
    ClaimToken token = token(handle);
    if (delay != null && (delay.isNegative() || delay.compareTo(Limits.MAX_RETRY_DELAY) > 0)) {
      throw new InvalidJobException(
          "delay must be between 0 and " + Limits.MAX_RETRY_DELAY + ", not " + delay);
    }
    return stored(() -> result(engine.claims().failed(token, application, reason, delay).join()));
  }

  @Override
  public DeferralResult reject(String handle, String reason) {
    ClaimToken token = token(handle);
    return stored(() -> result(engine.claims().rejected(token, application, reason).join()));
  }

  @Override
  public DeferralResult extend(String handle, Duration within) {
    ClaimToken token = token(handle);
    return stored(
        () -> {
          Claims.Extension extension =
              engine.claims().extend(token, Limits.requireDeferral(within)).orElse(null);
          return extension != null
              ? new DeferralResult(
                  DeferralResult.Outcome.EXTENDED, Instant.ofEpochMilli(extension.until()))
              : new DeferralResult(DeferralResult.Outcome.LEASE_LOST, null);
        });
  }

  private ClaimToken token(String handle) {
    return ClaimToken.of(AttemptToken.ofHandle(handle, application));
  }

  private static DeferralResult result(Settled settled) {
    return switch (settled.kind()) {
      case DONE -> new DeferralResult(DeferralResult.Outcome.DONE, null);
      case ALREADY_DONE -> new DeferralResult(DeferralResult.Outcome.ALREADY_DONE, null);
      case DEAD, EXPIRED, DROPPED -> new DeferralResult(DeferralResult.Outcome.DEAD, null);
      case RETRY ->
          new DeferralResult(DeferralResult.Outcome.RETRY, Instant.ofEpochMilli(settled.at()));
      case LEASE_LOST -> new DeferralResult(DeferralResult.Outcome.LEASE_LOST, null);
      case CANCELLED -> new DeferralResult(DeferralResult.Outcome.CANCELLED, null);
      case UNKNOWN -> new DeferralResult(DeferralResult.Outcome.UNKNOWN, null);
    };
  }

  @Override
  public ScheduleResult put(Schedule schedule) {
    ScheduleName name;
    ScheduleDefinition definition;
    try {
      name = new ScheduleName(queue(schedule.taskType()), schedule.id());
      definition = ScheduleDefinition.of(schedule);
    } catch (IllegalArgumentException e) {
      InvalidJobException invalid = new InvalidJobException(String.valueOf(e.getMessage()));
      invalid.initCause(e);
      throw invalid;
    }
    return stored(() -> put(name, definition));
  }

  private ScheduleResult put(ScheduleName name, ScheduleDefinition definition) {
    Schedules.PutAnswer answer = engine.schedules().put(name, definition, Limits.MAX_SCHEDULES);
    Schedules.View put = answer.schedule();
    if (put == null) {
      throw new InvalidJobException(
          "the application has " + Limits.MAX_SCHEDULES + " schedules, which is the most");
    }
    return new ScheduleResult(ScheduleResult.Outcome.valueOf(answer.outcome().name()), put.next());
  }

  @Override
  public boolean deleteSchedule(String taskType, String id) {
    return stored(() -> engine.schedules().delete(new ScheduleName(queue(taskType), id)));
  }

  @Override
  public void declareSchedules(List<String> taskTypes) {
    List<ScheduleName> names =
        taskTypes.stream().map(type -> new ScheduleName(queue(type), type)).toList();
    var unused = stored(() -> engine.schedules().declare(application, names));
  }

  private QueueName queue(String taskType) {
    return new QueueName(application, taskType);
  }

  private CompletableFuture<Submit> start(DelayQueueJob job) {
    if (!Limits.isName(job.taskId())) {
      throw new InvalidJobException(
          "taskId " + Limits.NAME_RULE + "; ids with @ are those of the jobs of schedules");
    }
    return stored(
        () -> {
          try {
            engine.calendars().require(job.timeRules().calendar());
          } catch (IllegalArgumentException e) {
            throw new InvalidJobException(String.valueOf(e.getMessage()));
          }
          return engine.submit(application, job, null);
        });
  }

  private static SubmitResult result(DelayQueueJob job, CompletableFuture<Submit> answer) {
    Submit submit = stored(answer::join);
    return switch (submit.kind()) {
      case CREATED -> result(job, submit, SubmitResult.Outcome.CREATED);
      case ALREADY_THERE -> result(job, submit, SubmitResult.Outcome.ALREADY_THERE);
      case ALREADY_DONE -> result(job, submit, SubmitResult.Outcome.ALREADY_DONE);
      case REPLACED -> result(job, submit, SubmitResult.Outcome.REPLACED);
      case MERGED -> result(job, submit, SubmitResult.Outcome.MERGED);
      case CANCELLED_BY_EVENT -> result(job, submit, SubmitResult.Outcome.CANCELLED_BY_EVENT);
      case CONFLICT, CONFLICT_DONE, IN_DELIVERY -> throw conflict(job, submit);
    };
  }

  private static SubmitResult result(
      DelayQueueJob job, Submit submit, SubmitResult.Outcome outcome) {
    return new SubmitResult(
        job.taskId(),
        Instant.ofEpochMilli(submit.dueAt()),
        outcome,
        number(submit.version()),
        submit.reached().toString());
  }

  private static long number(@Nullable JobVersion version) {
    return version == null ? 0 : version.number();
  }

  private static JobConflictException conflict(DelayQueueJob job, Submit submit) {
    String what =
        switch (submit.kind()) {
          case CONFLICT_DONE ->
              "another job of this id ran at "
                  + Instant.ofEpochMilli(submit.dueAt())
                  + ", and its id is remembered for a while; use another id";
          case IN_DELIVERY ->
              "a worker has the job of this id as attempt "
                  + submit.attempt()
                  + ", so it cannot be replaced; with whileRunning, the submit waits for its end";
          default ->
              "a job with this id exists already, and differs in "
                  + submit.differing()
                  + "; use another id, replace it, or cancel that job first";
        };
    return new JobConflictException(
        "job %s of type %s was not stored: %s".formatted(job.taskId(), job.taskType(), what),
        submit.differing());
  }

  private static <T> T stored(Supplier<T> call) {
    try {
      return call.get();
    } catch (CompletionException e) {
      if (e.getCause() instanceof StoreException cause) {
        throw translate(cause);
      }
      throw e;
    } catch (StoreException e) {
      throw translate(e);
    } catch (IllegalArgumentException e) {
      throw new InvalidJobException(String.valueOf(e.getMessage()));
    }
  }

  /** As schedulers behind HTTP tell it: who waits for the store must not wait for one queue. */
  static PunctualException translate(StoreException e) {
    return switch (e.kind()) {
      case UNREACHABLE, REFUSED ->
          new SchedulerUnavailableException(
              "The store did not take it: "
                  + e.getMessage()
                  + "; repeat the call with the same task id",
              RETRY_AFTER,
              e);
      case UNCONFIRMED ->
          new SchedulerUnavailableException(
              "It is not known to be safe: "
                  + e.getMessage()
                  + "; repeat the call with the same task id",
              RETRY_AFTER,
              e);
      case CORRUPT ->
          new PunctualException(
              ErrorCode.INTERNAL,
              "The stored data of this queue is damaged, and nothing was changed: "
                  + e.getMessage()
                  + "; remove what is not Punctual's",
              e);
      case EXCESSIVE -> {
        InvalidJobException refused = new InvalidJobException("taskType " + e.getMessage());
        refused.initCause(e);
        yield refused;
      }
    };
  }
}
