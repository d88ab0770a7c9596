package io.punctual.client.run;

import io.punctual.RejectTaskException;
import io.punctual.RetryLaterException;
import io.punctual.TaskWorker;
import io.punctual.client.lease.JobLease;
import io.punctual.client.lease.LeaseRelay;
import io.punctual.internal.AttemptLease;
import io.punctual.internal.AttemptObservations;
import io.punctual.internal.Invocation;
import io.punctual.internal.JobListeners;
import io.punctual.internal.OneLine;
import io.punctual.internal.RunningAttempt;
import io.punctual.internal.TaskWorkers;
import io.punctual.internal.TimeLimit;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import io.punctual.wire.Limits;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Runs jobs, so many at once, each at most for its time-to-run, each attempt once. */
public final class JobRunner implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(JobRunner.class);
  private static final int MAX_ERROR = 1500;

  /** The part of its time-to-run that a job may wait for other jobs of this instance. */
  private static final int PATIENCE = 4;

  /** So long nobody must have asked before it is taken that nobody will. */
  private static final Duration QUIET = Duration.ofSeconds(1);

  private final TaskWorkers workers;
  private final JobListeners listeners;
  private final AttemptObservations observations;
  private final String delivery;
  private final int concurrency;
  private final ExecutorService threads;
  private final ExecutorService ends;
  private final Places all;
  private final ToIntFunction<String> places;
  // By task type; of those alone that have a number of their own.
  private final Map<String, Places> own = new ConcurrentHashMap<>();
  private final Incarnations incarnations = new Incarnations();
  private final ScheduledThreadPoolExecutor timer;
  // With its task type.
  private final Map<TimeLimit, String> running = new ConcurrentHashMap<>();
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile boolean draining;
  private volatile long asked = System.nanoTime() - QUIET.toNanos();

  /**
   * @param delivery how jobs come here, for observations: {@code push}, {@code pull}, or {@code
   *     in-process}
   * @param concurrency most jobs at once
   * @param places most jobs of a task type at once
   */
  public JobRunner(
      TaskWorkers workers,
      JobListeners listeners,
      AttemptObservations observations,
      String delivery,
      int concurrency,
      ToIntFunction<String> places) {
    this.workers = workers;
    this.listeners = listeners;
    this.observations = observations;
    this.delivery = delivery;
    this.concurrency = concurrency;
    this.threads = Threads.forJobs(concurrency);
    this.ends = Threads.forEnds(threads);
    this.places = places;
    this.timer =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "punctual-ttr");
              thread.setDaemon(true);
              return thread;
            });
    this.timer.setRemoveOnCancelPolicy(true);
    this.all = new Places(concurrency, timer);
  }

  /** The task types that it runs. */
  public Set<String> types() {
    return workers.types();
  }

  /** Most jobs at once. */
  public int concurrency() {
    return concurrency;
  }

  /** Where results are written. */
  public Executor writer() {
    return Threads.forResults(threads);
  }

  /**
   * Whether jobs are taken; false once this instance is leaving. For those who come from outside:
   * that somebody asked is remembered, see {@link #awaitQuiet}.
   */
  public boolean takesJobs() {
    asked = System.nanoTime();
    return !draining;
  }

  /**
   * Runs a job, or answers from memory; never completes exceptionally.
   *
   * @param lease by which the job is ours
   */
  public CompletableFuture<CallbackResult> run(CallbackRequest.Job job, JobLease lease) {
    return run(job, lease, System.nanoTime());
  }

  private CompletableFuture<CallbackResult> run(
      CallbackRequest.Job job, JobLease lease, long since) {
    TaskWorker worker = workers.find(job.taskType());
    if (worker == null) {
      return done(
          job,
          CallbackResult.REFUSED,
          "this instance has no worker for " + job.taskType() + ", it has " + workers.types());
    }
    if (draining) {
      return done(job, CallbackResult.REFUSED, "this instance is shutting down");
    }
    Incarnations.Decision decision = incarnations.decide(job, lease);
    if (decision.verdict() == Incarnations.Verdict.STALE) {
      return done(job, CallbackResult.REFUSED, "a newer delivery of this job was here already");
    }
    if (decision.verdict() == Incarnations.Verdict.RUN) {
      Started started = new Started(job, decision.lease(), decision.result(), since);
      try {
        start(worker, started);
      } catch (RuntimeException | Error e) {
        notStarted(started, e);
      }
      return decision.result();
    }
    Duration allowed = allowed(job);
    boolean follows = decision.lease().follow(lease, allowed);
    if (!follows) {
      // The run was stopped, and may go on in spite of that. This delivery has its own time limit.
      Future<?> watch =
          timer.schedule(() -> lease.timeOver(allowed), allowed.toMillis(), TimeUnit.MILLISECONDS);
      var unused = decision.result().whenComplete((result, error) -> watch.cancel(false));
    }
    return decision
        .result()
        .thenCompose(
            result -> {
              boolean mine =
                  switch (result.outcome()) {
                    case CallbackResult.DONE -> true;
                    case CallbackResult.DEFERRED -> decision.lease().isDeferredBy(lease);
                    default -> follows;
                  };
              return mine ? CompletableFuture.completedFuture(result) : again(job, lease, since);
            });
  }

  /** Runs a job that waited for the end of an attempt that was not its own. */
  private CompletableFuture<CallbackResult> again(
      CallbackRequest.Job job, JobLease lease, long since) {
    return patience(job, since) > 0
        ? run(job, lease, since)
        : done(job, CallbackResult.REFUSED, "an earlier attempt of this job ran here for too long");
  }

  /** For how many ms a job that came at a time may still wait before it begins. */
  private static long patience(CallbackRequest.Job job, long since) {
    long waited = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since);
    return Math.max(0, job.timeToRun() / PATIENCE - waited);
  }

  private static Duration allowed(CallbackRequest.Job job) {
    Duration given = Duration.ofMillis(job.timeToRun());
    return given.compareTo(Limits.MAX_TIME_TO_RUN) > 0 ? Limits.MAX_TIME_TO_RUN : given;
  }

  /**
   * An attempt that was admitted or waits for that.
   *
   * @param since nanoseconds, when it came: its time runs from here, as it does for its scheduler
   */
  private record Started(
      CallbackRequest.Job job,
      LeaseRelay lease,
      CompletableFuture<CallbackResult> result,
      long since) {

    /** For how many ms it may still wait for a place. */
    long patience() {
      return JobRunner.patience(job, since);
    }
  }

  // A job that waits runs out of its time-to-run, by the scheduler's watch. Given back, it costs no
  // attempt, and another instance may have room.
  private void start(TaskWorker worker, Started started) {
    String type = started.job().taskType();
    int most = places.applyAsInt(type);
    if (most >= concurrency) {
      startInAll(worker, started, () -> {});
      return;
    }
    Places room = own.computeIfAbsent(type, unused -> new Places(most, timer));
    room.take(
        () -> startInAll(worker, started, room::leave),
        started.patience(),
        () -> giveBack(started, unplaced(started.job(), most + " jobs of " + type), () -> {}));
    if (draining) {
      // Since this one was asked whether it takes jobs.
      room.giveUp();
    }
  }

  /**
   * Runs a job once the instance has a place for it.
   *
   * @param leaveType gives back its place among the jobs of its type
   */
  private void startInAll(TaskWorker worker, Started started, Runnable leaveType) {
    Runnable leave =
        () -> {
          all.leave();
          leaveType.run();
        };
    all.take(
        () -> {
          if (draining) {
            // After drain() has seen that nothing runs, nothing begins.
            giveBack(started, leaving(started.job()), leave);
          } else {
            execute(threads, started, () -> new Running(started, leave).call(worker), leave);
          }
        },
        started.patience(),
        () -> giveBack(started, unplaced(started.job(), concurrency + " jobs"), leaveType));
    if (draining) {
      all.giveUp();
    }
  }

  /**
   * On a thread of neither the timer nor another job, and not behind jobs: these have all threads
   * where threads are counted.
   */
  private void giveBack(Started started, CallbackResult result, Runnable leave) {
    leave.run();
    execute(ends, started, () -> started.result().complete(result), () -> {});
  }

  private static void execute(
      Executor executor, Started started, Runnable task, Runnable otherwise) {
    try {
      executor.execute(task);
    } catch (RejectedExecutionException e) {
      // This was closed meanwhile.
      started.result().complete(leaving(started.job()));
      otherwise.run();
    } catch (RuntimeException | Error e) {
      // Mostly there is no memory for another thread.
      notStarted(started, e);
      otherwise.run();
    }
  }

  private static void notStarted(Started started, Throwable e) {
    CallbackRequest.Job job = started.job();
    log.error(
        "Job {} of {} could not be started. It costs no attempt and goes to another instance.",
        job.taskId(),
        job.taskType(),
        e);
    started
        .result()
        .complete(
            result(
                job,
                CallbackResult.REFUSED,
                null,
                "this instance could not start the job: " + describe(e)));
  }

  private CallbackResult unplaced(CallbackRequest.Job job, String most) {
    return draining
        ? leaving(job)
        : result(
            job,
            CallbackResult.REFUSED,
            null,
            "this instance runs %s at once, and has them".formatted(most));
  }

  private static CallbackResult leaving(CallbackRequest.Job job) {
    return result(job, CallbackResult.REFUSED, null, "this instance is shutting down");
  }

  /** An attempt that has its place, until its work has ended. */
  private final class Running implements Invocation.Listener {

    private final Started started;
    private final Runnable leave;
    private final TimeLimit limit;
    private final AttemptObservations.Observed observed;
    private final long start;
    private final RunningAttempt context;
    private boolean elsewhere;

    Running(Started started, Runnable leave) {
      this.started = started;
      this.leave = leave;
      CallbackRequest.Job job = started.job();
      Duration allowed = allowed(job);
      limit =
          new TimeLimit(
              allowed,
              // When its time is over, its scheduler gives it to another instance.
              started.since(),
              () -> started.lease().timeOver(allowed));
      running.put(limit, job.taskType());
      limit.watch(timer);
      started.lease().begin(limit);
      // Elsewhere: whoever sees that must not wait for what the application does then.
      started.lease().onLost(() -> later(limit::lose));
      started.lease().onCancelled(() -> later(limit::cancel));
      observed =
          observations.started(
              delivery, job.taskType(), job.taskId(), job.attempt(), job.headers());
      start = System.nanoTime();
      context = context(job, limit, started.lease());
    }

    void call(TaskWorker worker) {
      Invocation.call(worker, started.job().params(), context, limit, ends, this);
    }

    @Override
    public void goesOn() {
      elsewhere = true;
      observed.leave();
    }

    @Override
    public void ended(@Nullable Throwable thrown) {
      running.remove(limit);
      CallbackRequest.Job job = started.job();
      Duration deferred = context.deferred();
      CallbackResult result =
          thrown == null
              ? returned(job, deferred)
              : result(job, CallbackResult.RETRY, null, describe(thrown));
      try {
        if (elsewhere) {
          observed.enter();
        }
        listeners.ended(
            job.taskType(),
            job.taskId(),
            job.attempt(),
            job.dueTime(),
            start,
            thrown,
            deferred != null);
        if (thrown != null) {
          result = failed(job, limit, thrown);
        }
        // Behind the line of the log, which belongs to the trace.
        observed.ended(thrown, deferred != null);
      } finally {
        try {
          started.result().complete(result);
        } finally {
          leave.run();
        }
      }
    }
  }

  private void later(Runnable task) {
    try {
      ends.execute(task);
    } catch (RejectedExecutionException e) {
      log.trace("closed: everything was stopped already", e);
    }
  }

  private static RunningAttempt context(
      CallbackRequest.Job job, TimeLimit limit, AttemptLease lease) {
    Long lateSince = job.lateSince();
    return new RunningAttempt(
        job.taskType(),
        job.taskId(),
        job.incarnation(),
        job.attempt(),
        job.dueTime(),
        lateSince == null ? job.dueTime() : lateSince,
        job.headers(),
        InstantSource.system(),
        limit,
        lease);
  }

  private static CallbackResult returned(CallbackRequest.Job job, @Nullable Duration deferred) {
    return deferred == null
        ? result(job, CallbackResult.DONE, null, null)
        : new CallbackResult(
            job.taskId(),
            job.incarnation(),
            CallbackResult.DEFERRED,
            null,
            null,
            deferred.toMillis());
  }

  private static CallbackResult failed(CallbackRequest.Job job, TimeLimit limit, Throwable thrown) {
    if (limit.cancelled()) {
      // Whatever it threw: the scheduler cancels the job.
      log.info(
          "Job {} of {} was cancelled and has stopped, attempt {}",
          job.taskId(),
          job.taskType(),
          job.attempt());
      return result(job, CallbackResult.RETRY, null, stopped("cancelled", limit));
    } else if (thrown instanceof RejectTaskException) {
      String reason = describe(thrown);
      log.atWarn()
          .addKeyValue("punctual.task.type", job.taskType())
          .addKeyValue("punctual.task.id", job.taskId())
          .addKeyValue("punctual.attempt", job.attempt())
          .log(
              "Job {} of {} was rejected at attempt {} and becomes a dead letter. Correct its params"
                  + " or the worker, then requeue it. Reason: {}",
              job.taskId(),
              job.taskType(),
              job.attempt(),
              OneLine.of(reason, MAX_ERROR));
      return result(job, CallbackResult.REJECT, null, reason);
    } else if (thrown instanceof RetryLaterException later) {
      return result(job, CallbackResult.RETRY, later.delay(), describe(thrown));
    } else if (thrown instanceof InterruptedException) {
      return result(job, CallbackResult.RETRY, null, stopped("interrupted", limit));
    } else if (thrown instanceof CancellationException && limit.struck()) {
      return result(job, CallbackResult.RETRY, null, stopped("cancelled", limit));
    }
    // The stack is kept nowhere else.
    log.atLevel(thrown instanceof Exception ? Level.WARN : Level.ERROR)
        .addKeyValue("punctual.task.type", job.taskType())
        .addKeyValue("punctual.task.id", job.taskId())
        .addKeyValue("punctual.attempt", job.attempt())
        .setCause(thrown)
        .log("Job {} of {} failed, attempt {}", job.taskId(), job.taskType(), job.attempt());
    return result(job, CallbackResult.RETRY, null, describe(thrown));
  }

  private static String stopped(String how, TimeLimit limit) {
    String why = limit.why();
    return why == null ? how : how + ": " + why;
  }

  private static String describe(Throwable e) {
    String text = e.getClass().getName() + (e.getMessage() == null ? "" : ": " + e.getMessage());
    String cut = text.length() > MAX_ERROR ? text.substring(0, MAX_ERROR) + "..." : text;
    // Half of a surrogate pair, thrown or cut, can not be written as JSON in UTF-8.
    return new String(cut.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
  }

  private static CompletableFuture<CallbackResult> done(
      CallbackRequest.Job job, String outcome, String error) {
    return CompletableFuture.completedFuture(result(job, outcome, null, error));
  }

  private static CallbackResult result(
      CallbackRequest.Job job, String outcome, @Nullable Duration delay, @Nullable String error) {
    return new CallbackResult(
        job.taskId(),
        job.incarnation(),
        outcome,
        delay == null ? null : delay.toMillis(),
        error,
        null);
  }

  /** How many jobs are running now, by task type, of those types that have any. */
  public Map<String, Integer> running() {
    Map<String, Integer> counts = new TreeMap<>();
    running.values().forEach(type -> counts.merge(type, 1, Integer::sum));
    return counts;
  }

  /** Returns how many more jobs this instance could run now. */
  public int free() {
    return all.free();
  }

  /** Takes jobs again after a {@link #drain}: contexts may be stopped and started again. */
  public void open() {
    draining = false;
  }

  /**
   * Takes no more jobs, until {@link #open}, gives back those that wait for a place, and waits for
   * those that run and for what follows their results.
   *
   * @return whether all of them ended in time
   */
  public boolean drain(Duration patience) throws InterruptedException {
    draining = true;
    own.values().forEach(Places::giveUp);
    all.giveUp();
    return all.awaitEmpty(patience.toMillis());
  }

  /**
   * Waits until no scheduler has come for a second: what is closed after that is in nobody's way. A
   * connection that is closed in the very moment of a request looks like a lost answer.
   */
  public void awaitQuiet(Duration patience) throws InterruptedException {
    long end = System.nanoTime() + patience.toNanos();
    for (long left = quietIn(end); left > 0; left = quietIn(end)) {
      if (closed.await(left, TimeUnit.NANOSECONDS)) {
        return;
      }
    }
  }

  private long quietIn(long end) {
    long now = System.nanoTime();
    return Math.min(asked + QUIET.toNanos() - now, end - now);
  }

  /** Has the attempt of a job stop, if it is here, since the job was cancelled. */
  public void cancel(String taskType, String taskId, String incarnation) {
    LeaseRelay run = incarnations.running(taskType, taskId, incarnation);
    if (run != null) {
      run.cancel();
    }
  }

  /** Interrupts the jobs that run now; others are taken as before. */
  public void interrupt() {
    running.keySet().forEach(TimeLimit::interrupt);
  }

  @Override
  public void close() {
    draining = true;
    closed.countDown();
    interrupt();
    threads.shutdownNow();
    ends.shutdown();
    timer.shutdownNow();
  }
}
