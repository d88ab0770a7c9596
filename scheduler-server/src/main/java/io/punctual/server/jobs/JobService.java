package io.punctual.server.jobs;

import io.punctual.DelayQueueJob.Event;
import io.punctual.ErrorCode;
import io.punctual.core.Engine;
import io.punctual.core.Operations;
import io.punctual.core.Operations.EventDone;
import io.punctual.core.Submit;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.JobState;
import io.punctual.core.job.JobVersion;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.UndoLimits;
import io.punctual.core.store.Cancelled;
import io.punctual.core.store.Requeued;
import io.punctual.core.store.Restored;
import io.punctual.core.store.Revised;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.query.JobView;
import io.punctual.server.audit.AuditLog;
import io.punctual.server.engine.EngineProperties;
import io.punctual.server.problem.ApiException;
import io.punctual.server.problem.Failures;
import io.punctual.server.registry.ServedTypes;
import io.punctual.server.security.Caller;
import io.punctual.server.security.Ownership;
import io.punctual.wire.Limits;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Submits, finds and changes single jobs within the quotas, sends them events, and records both in
 * the audit.
 */
@Component
public class JobService {

  /** The most versions that are tried on a cancelled job: each is a call to Redis. */
  private static final int MOST_VERSIONS = 10;

  /** The most queues in which a job is looked for by its id: each is a call to Redis. */
  private static final int MAX_QUEUES = 100;

  private final Engine engine;
  private final AuditLog audit;
  private final ServedTypes workers;
  private final ApplicationQuotas quotas;
  private final CalendarService calendars;
  private final EngineProperties properties;

  JobService(
      Engine engine,
      AuditLog audit,
      ServedTypes workers,
      ApplicationQuotas quotas,
      CalendarService calendars,
      EngineProperties properties) {
    this.engine = engine;
    this.audit = audit;
    this.workers = workers;
    this.quotas = quotas;
    this.calendars = calendars;
    this.properties = properties;
  }

  /**
   * What a submitter should know of the workers of a queue.
   *
   * @param unserved whether none is known; false if this scheduler cannot know yet
   * @param text for people
   */
  public record Notice(boolean unserved, String text) {}

  /** Returns what to say of the workers of that queue; null if it has some. */
  public @Nullable Notice notice(QueueName queue) {
    ServedTypes.Notice notice = workers.notice(queue, Caller.current().application() == null);
    return notice == null ? null : new Notice(notice.unserved(), notice.text());
  }

  /**
   * Submits a job.
   *
   * @return anything but {@link Submitted.Refused}
   * @throws ApiException 403 for another application's job, 429 beyond the quota
   */
  public Submitted submit(NewJob job) {
    Submitted result = result(job, begin(job).join());
    if (result instanceof Submitted.Accepted accepted) {
      audit.did("submit", () -> job.ref().toString(), null, text(accepted.outcome()));
    }
    return result;
  }

  /**
   * Submits many jobs, each on its own.
   *
   * @param jobs each is asked for once, in order; an {@link ApiException} of it refuses that job
   * @return a result for each job, in order
   */
  public List<Submitted> submitAll(List<? extends Supplier<NewJob>> jobs) {
    List<Begun> begun = jobs.stream().map(this::begin).toList();
    List<Submitted> results = begun.stream().map(this::result).toList();
    audit.did("submit many", () -> text(begun), null, null);
    return results;
  }

  private static String text(List<Begun> jobs) {
    return jobs.size() + " jobs: " + jobs.stream().map(Begun::taskId).toList();
  }

  private record Begun(
      @Nullable NewJob job,
      @Nullable CompletableFuture<Submit> answer,
      @Nullable ApiException refusal) {

    @Nullable String taskId() {
      return job == null ? null : job.job().taskId();
    }
  }

  private Begun begin(Supplier<NewJob> given) {
    try {
      NewJob job = given.get();
      return new Begun(job, begin(job), null);
    } catch (ApiException e) {
      return new Begun(null, null, e);
    }
  }

  private CompletableFuture<Submit> begin(NewJob job) {
    Ownership.require(job.application());
    if (!Limits.isName(job.job().taskId())) {
      throw ApiException.invalid(
          "taskId", Limits.NAME_RULE + "; ids with @ are those of the jobs of schedules");
    }
    calendars.require(job.job().timeRules().calendar());
    quotas.submit(job.queue(), job.size());
    return engine.submit(job.application(), job.job(), Caller.current().submitter());
  }

  private Submitted result(Begun begun) {
    NewJob job = begun.job();
    CompletableFuture<Submit> answer = begun.answer();
    if (job == null || answer == null) {
      return new Submitted.Refused(null, Objects.requireNonNull(begun.refusal()));
    }
    try {
      return result(job, answer.join());
    } catch (CompletionException e) {
      if (e.getCause() instanceof StoreException store) {
        return new Submitted.Refused(job, Failures.translate(store));
      }
      throw e;
    }
  }

  private Submitted result(NewJob job, Submit submit) {
    return switch (submit.kind()) {
      case CREATED -> accepted(job, Submitted.Outcome.CREATED, submit);
      case ALREADY_THERE -> accepted(job, Submitted.Outcome.ALREADY_THERE, submit);
      case ALREADY_DONE -> accepted(job, Submitted.Outcome.ALREADY_DONE, submit);
      case REPLACED -> accepted(job, Submitted.Outcome.REPLACED, submit);
      case MERGED -> accepted(job, Submitted.Outcome.MERGED, submit);
      case CANCELLED_BY_EVENT -> accepted(job, Submitted.Outcome.CANCELLED_BY_EVENT, submit);
      case CONFLICT -> new Submitted.Conflict(job, submit.differing(), null, null);
      case CONFLICT_DONE -> {
        Instant ran = Instant.ofEpochMilli(submit.dueAt());
        yield new Submitted.Conflict(job, List.of(), ran, ran.plus(properties.tombstones()));
      }
      case IN_DELIVERY -> new Submitted.InDelivery(job, submit.attempt());
    };
  }

  private static Submitted accepted(NewJob job, Submitted.Outcome outcome, Submit submit) {
    return new Submitted.Accepted(job, outcome, submit.dueAt(), submit.version(), submit.reached());
  }

  /**
   * Returns a job.
   *
   * @throws ApiException 404
   */
  public JobView find(JobRef job) {
    return engine.find(job.queue(), job.taskId()).orElseThrow(() -> JobResult.unknown(job));
  }

  /**
   * Finds a job by its id among the queues of an application, for callers that do not name the
   * queue. There is no index for it: most applications have few task types, and every job would pay
   * for one.
   *
   * @throws ApiException 400 if there are too many queues to look in; 404 if there is no such job;
   *     409 if there are several, naming the topics
   */
  public JobView find(String application, String taskId) {
    String own = new QueueName(application, "x").application();
    List<QueueName> queues =
        engine.queues().keySet().stream().filter(name -> name.application().equals(own)).toList();
    if (queues.size() > MAX_QUEUES) {
      throw ApiException.invalid(
          "topic",
          "is missing: "
              + application
              + " has "
              + queues.size()
              + " topics, and a job is looked for in at most "
              + MAX_QUEUES);
    }
    List<JobView> found =
        queues.stream().flatMap(queue -> engine.find(queue, taskId).stream()).toList();
    List<JobView> alive = found.stream().filter(job -> !isOver(job)).toList();
    List<JobView> candidates = alive.isEmpty() ? found : alive;
    if (candidates.isEmpty()) {
      throw ApiException.of(
          ErrorCode.NOT_FOUND,
          "no job " + taskId + " is known in " + application + "; it never was, or is long gone");
    } else if (candidates.size() > 1) {
      List<String> topics = candidates.stream().map(job -> job.queue().taskType()).toList();
      throw ApiException.of(
          ErrorCode.CONFLICT,
          "several jobs have the id "
              + taskId
              + ", one in each of these topics: "
              + String.join(", ", topics)
              + ". Name the topic",
          Map.of("topics", topics));
    }
    return candidates.get(0);
  }

  private static boolean isOver(JobView job) {
    return job.state() == JobState.FINISHED || job.state() == JobState.CANCELLED;
  }

  /**
   * Cancels a job.
   *
   * @param seen one of which the job must be; null for any version
   * @param interrupt whether the attempt of a job that runs is told to stop; else it is left alone
   */
  public JobResult cancel(JobRef job, @Nullable List<JobVersion> seen, boolean interrupt) {
    Cancelled cancelled = cancelled(job, seen, interrupt);
    if (cancelled == null) {
      return new JobResult.Unknown(job);
    }
    return switch (cancelled.kind()) {
      case CANCELLED -> {
        audit.did("cancel", job::toString, "delayed", "cancelled");
        yield new JobResult.Done(job, "cancelled", 0, null, cancelled.version(), null);
      }
      case CANCELLING -> {
        audit.did("cancel", job::toString, "reserved", "cancelling");
        yield new JobResult.Done(
            job, "cancelling", cancelled.attempt(), null, cancelled.version(), null);
      }
      case FINISHED ->
          new JobResult.WrongState(JobState.FINISHED, 0, "it ran already; it cannot be cancelled");
      case DEAD ->
          new JobResult.WrongState(
              JobState.DEAD, 0, "it is a dead letter: nothing will run it unless requeued");
      case IN_DELIVERY ->
          JobResult.WrongState.inDelivery(
              cancelled.attempt(),
              interrupt ? "cancelled" : "cancelled, except with running=interrupt");
      case CHANGED -> new JobResult.Changed();
      case UNKNOWN -> new JobResult.Unknown(job);
    };
  }

  /** Undoes the cancel of a job: it is as it was before, and runs at once if it is due. */
  public JobResult restore(JobRef job) {
    Restored restored = engine.operations().restore(job.queue(), job.taskId());
    return switch (restored.kind()) {
      case RESTORED -> {
        audit.did("restore", job::toString, "cancelled", "restored");
        yield done(job, "restored", positive(restored.due()), restored.version());
      }
      case EXISTS ->
          engine
              .find(job.queue(), job.taskId())
              .<JobResult>map(
                  now ->
                      new JobResult.WrongState(
                          now.state(),
                          holder(now),
                          "this job was not cancelled; if an earlier job with this id was, the id"
                              + " has been submitted again since"))
              .orElseGet(() -> new JobResult.Unknown(job));
      case FINISHED ->
          new JobResult.WrongState(
              JobState.FINISHED, 0, "it ran already; there is no cancel to undo");
      case TOO_LATE ->
          notKept(
              "a cancel can be undone for "
                  + UndoLimits.TIME.toMinutes()
                  + " minutes, which are over");
      case TOO_LARGE ->
          notKept(
              "the job was too large to be kept: its stored record may have at most "
                  + UndoLimits.BYTES
                  + " bytes");
      case NOT_KEPT, CHANGED ->
          notKept(
              String.format(
                  Locale.ROOT,
                  "the job is not kept: at least %,d jobs of its bucket (%,d by operations on many"
                      + " jobs) were cancelled after it, or a scheduler of an earlier release"
                      + " cancelled it",
                  UndoLimits.JOBS,
                  UndoLimits.JOBS_OF_OPERATIONS));
      case UNKNOWN -> new JobResult.Unknown(job);
    };
  }

  private static JobResult notKept(String why) {
    return new JobResult.WrongState(
        JobState.CANCELLED, 0, "its cancel cannot be undone: " + why + ". Submit the job again");
  }

  private static @Nullable Long positive(long millis) {
    return millis > 0 ? millis : null;
  }

  private @Nullable Cancelled cancelled(
      JobRef job, @Nullable List<JobVersion> seen, boolean interrupt) {
    Operations operations = engine.operations();
    String by = Caller.current().submitter();
    if (seen == null) {
      return operations.cancel(job.queue(), job.taskId(), null, interrupt, by);
    }
    JobView now = engine.find(job.queue(), job.taskId()).orElse(null);
    if (now == null) {
      return null;
    }
    Cancelled changed = new Cancelled(Cancelled.Kind.CHANGED, 0, 0);
    if (now.state() != JobState.CANCELLED) {
      JobVersion version = version(now, seen);
      return version == null
          ? changed
          : operations.cancel(job.queue(), job.taskId(), version, interrupt, by);
    }
    // This may be a repeated call: the tombstone tells which job was cancelled.
    return seen.stream()
        .limit(MOST_VERSIONS)
        .map(version -> operations.cancel(job.queue(), job.taskId(), version))
        .filter(cancelled -> cancelled.kind() != Cancelled.Kind.CHANGED)
        .findFirst()
        .orElse(changed);
  }

  private static @Nullable JobVersion version(JobView job, List<JobVersion> seen) {
    String incarnation = job.incarnation();
    JobVersion now = incarnation == null ? null : new JobVersion(incarnation, job.version());
    return now != null && seen.contains(now) ? now : null;
  }

  /**
   * Gives a waiting job another due time, other content, or both.
   *
   * @param seen one of which the job must be; null for any version
   * @throws ApiException 429 if the application has no memory left for the new content
   */
  public JobResult revise(JobRef job, JobChange change, @Nullable List<JobVersion> seen) {
    return ifSeen(
        job,
        seen,
        version ->
            change.content() == null
                ? revise("reschedule", job, change, version, "rescheduled")
                : revise("revise", job, change, version, "revised"));
  }

  /**
   * Makes a waiting job due now.
   *
   * @param seen one of which the job must be; null for any version
   */
  public JobResult run(JobRef job, @Nullable List<JobVersion> seen) {
    return ifSeen(
        job, seen, version -> revise("run", job, JobChange.due(Due.in(0)), version, "rescheduled"));
  }

  /** A change of a job that is the version that the caller has seen. */
  private interface Change {
    JobResult apply(@Nullable JobVersion version);
  }

  private JobResult ifSeen(JobRef job, @Nullable List<JobVersion> seen, Change change) {
    if (seen == null) {
      return change.apply(null);
    }
    JobView now = engine.find(job.queue(), job.taskId()).orElse(null);
    if (now == null) {
      return new JobResult.Unknown(job);
    }
    JobVersion version = version(now, seen);
    return version == null ? new JobResult.Changed() : change.apply(version);
  }

  /** Refuses a calendar that is not there, if the change names it. */
  private @Nullable UnaryOperator<JobContent> checked(JobChange change) {
    UnaryOperator<JobContent> content = change.content();
    if (content == null) {
      return null;
    }
    return old -> {
      JobContent changed = content.apply(old);
      String calendar = changed.timeRules().calendar();
      if (!Objects.equals(calendar, old.timeRules().calendar())) {
        calendars.require(calendar);
      }
      return changed;
    };
  }

  private JobResult revise(
      String action, JobRef job, JobChange change, @Nullable JobVersion version, String outcome) {
    if (change.content() != null) {
      quotas.revise(job.queue(), change.size());
    }
    String before = audit.isKept() ? due(job) : null;
    Revised revised =
        engine
            .operations()
            .revise(job.queue(), job.taskId(), change.due(), checked(change), version);
    return switch (revised.kind()) {
      case REVISED -> {
        audit.did(action, job::toString, before, "due " + Instant.ofEpochMilli(revised.due()));
        yield done(job, outcome, revised.due(), revised.version());
      }
      case FINISHED ->
          new JobResult.WrongState(JobState.FINISHED, 0, "it ran already; it cannot be changed");
      case DEAD ->
          new JobResult.WrongState(JobState.DEAD, 0, "it is a dead letter; requeue it instead");
      case IN_DELIVERY -> JobResult.WrongState.inDelivery(revised.attempt(), "changed");
      case CHANGED -> new JobResult.Changed();
      case UNKNOWN -> new JobResult.Unknown(job);
    };
  }

  private @Nullable String due(JobRef job) {
    JobView now = engine.find(job.queue(), job.taskId()).orElse(null);
    return now == null ? null : "due " + Instant.ofEpochMilli(now.at());
  }

  private static JobResult.Done done(
      JobRef job, String outcome, @Nullable Long dueAt, @Nullable JobVersion version) {
    return new JobResult.Done(
        job, outcome, 0, dueAt, version == null ? 0 : version.number(), version);
  }

  /**
   * Lets a dead letter wait again.
   *
   * @param seen one of which the job must be; null for any version
   */
  public JobResult requeue(JobRef job, @Nullable List<JobVersion> seen) {
    return ifSeen(job, seen, version -> requeue(job, version));
  }

  private JobResult requeue(JobRef job, @Nullable JobVersion version) {
    Requeued.Item requeued = engine.operations().requeue(job.queue(), job.taskId(), version);
    return switch (requeued.kind()) {
      case REQUEUED -> {
        audit.did("requeue", job::toString, "dead", "delayed");
        yield done(job, "requeued", null, requeued.version());
      }
      case CHANGED -> new JobResult.Changed();
      case REFUSED ->
          engine
              .find(job.queue(), job.taskId())
              .<JobResult>map(
                  now ->
                      new JobResult.WrongState(
                          now.state(), holder(now), "only a dead letter can be requeued"))
              .orElseGet(() -> new JobResult.Unknown(job));
    };
  }

  /** The attempt that has the job; 0 if none has it. */
  private static int holder(JobView job) {
    JobView.LeaseInfo lease = job.lease();
    return lease == null ? 0 : lease.attempt();
  }

  /**
   * Sends an event to the jobs of applications.
   *
   * @param applications that the event is for
   * @return what the event did to the jobs of each application, in the order given
   * @throws ApiException 403 if the caller may not send events to one of them; then none gets it
   */
  public List<EventDone> event(Event event, List<String> applications) {
    applications.forEach(this::requireRight);
    return applications.stream()
        .map(
            application -> {
              EventDone done = engine.operations().event(application, event);
              audit.did(
                  "event",
                  () -> application + " " + event.name() + " " + event.key(),
                  null,
                  done.items().size() + " jobs");
              return done;
            })
        .toList();
  }

  private void requireRight(String application) {
    Caller caller = Caller.current();
    String own = caller.application();
    if (!caller.mayTouch(application)
        && (own == null || !properties.events().mayReach(own, application))) {
      throw ApiException.of(
          ErrorCode.FORBIDDEN,
          own
              + " has no right to send events to "
              + application
              + ": an operator gives it with punctual.events.rights."
              + own
              + "="
              + application,
          Map.of("application", application));
    }
  }

  /** Returns the outcome as the API writes it. */
  public static String text(Submitted.Outcome outcome) {
    return outcome.name().toLowerCase(Locale.ROOT);
  }
}
