package io.punctual.test;

import io.punctual.RetryPolicy;
import io.punctual.TaskSubmitService;
import io.punctual.TaskWorker;
import io.punctual.core.Delivery;
import io.punctual.core.Engine;
import io.punctual.core.EngineOptions;
import io.punctual.core.Operations;
import io.punctual.core.RepeatCause;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.JobState;
import io.punctual.core.job.QueueName;
import io.punctual.core.local.EngineJobScheduler;
import io.punctual.core.local.LocalLease;
import io.punctual.core.local.WorkerEnds;
import io.punctual.core.runtime.Stepper;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Requeued;
import io.punctual.core.store.query.Cursor;
import io.punctual.core.store.query.JobView;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.internal.Invocation;
import io.punctual.internal.JobListeners;
import io.punctual.internal.RunningAttempt;
import io.punctual.internal.TaskWorkers;
import io.punctual.internal.TimeLimit;
import io.punctual.spi.JobAttempt;
import io.punctual.spi.JobListener;
import io.punctual.spi.JobScheduler;
import io.punctual.spring.CommitFailures;
import io.punctual.spring.DirectCalls;
import io.punctual.spring.Payloads;
import io.punctual.spring.SpringTaskSubmitService;
import io.punctual.spring.SubmitObservations;
import io.punctual.spring.Transactions;
import io.punctual.spring.WorkerSettings;
import io.punctual.test.Faults.Fault;
import io.punctual.test.store.InMemoryCalendarStore;
import io.punctual.test.store.InMemoryJobStore;
import io.punctual.test.store.InMemoryScheduleStore;
import io.punctual.wire.Limits;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A scheduler for tests, in memory: the engine and the state machine of the real one, and a clock
 * that moves only when told. Nothing runs in the background; workers are called by {@link #advance}
 * and {@link #runDue}, one after the other, on the thread that calls these. A future that a worker
 * returns is waited for there.
 *
 * <pre>{@code
 * TestScheduler scheduler = TestScheduler.create();
 * scheduler.register("order.close", orders::close);
 * scheduler.taskSubmitService().send("order.close", "1001", Duration.ofMinutes(30));
 * scheduler.advance(Duration.ofMinutes(30));
 * }</pre>
 *
 * <p>Jobs run in the order of their due times; those that are due in the same millisecond in the
 * order of task types and ids. Jitter is drawn from the same numbers each time. So the same calls
 * have the same effects.
 *
 * <p>Jobs may be submitted from any thread.
 */
public final class TestScheduler {

  /** How many attempts one call of {@link #advance} runs unless something else is asked for. */
  public static final int DEFAULT_MAX_ATTEMPTS = 10_000;

  private static final Logger log = LoggerFactory.getLogger(TestScheduler.class);
  private static final String INSTANCE = "test";
  private static final long SEED = 4711;

  private final String application;
  private final @Nullable Instant start;
  private final int maxAttempts;
  private final Supplier<TaskWorkers> workersOfApplication;
  private final Supplier<JobListeners> listeners;
  private final AtomicLong millis = new AtomicLong();
  private final Clock clock = new TestClock(millis, ZoneOffset.UTC);
  private final Random random = new Random(SEED);
  private final InMemoryJobStore store;
  private final InMemoryScheduleStore schedules = new InMemoryScheduleStore(millis::get);
  private final InMemoryCalendarStore calendars = new InMemoryCalendarStore();
  private final Stepper stepper;
  private final JobScheduler jobScheduler;
  private final Supplier<TaskSubmitService> tasks;
  private final Supplier<PendingCalls> pending;
  private final Faults faults = new Faults();
  private final ReentrantLock stepping = new ReentrantLock();
  private final List<Attempt> attempts = new ArrayList<>();
  private volatile TaskWorkers workersOfTest = new TaskWorkers(Map.of());

  private TestScheduler(Builder builder) {
    this.application = builder.application;
    this.start = builder.start;
    this.maxAttempts = builder.maxAttempts;
    this.workersOfApplication = new Once<>(builder.workers);
    Supplier<List<JobListener>> heard = builder.listeners;
    this.listeners = new Once<>(() -> new JobListeners(heard.get()));
    this.store = new InMemoryJobStore(millis::get, StoreOptions.DEFAULTS.tombstones());
    RetryPolicy retry = builder.retry;
    this.stepper =
        new Stepper(
            store,
            new MemoryQueues(millis::get),
            schedules,
            calendars,
            EngineOptions.defaults(INSTANCE).with().retry(queue -> retry).build(),
            millis::get,
            random);
    this.jobScheduler = faults.before(new EngineJobScheduler(application, stepper.engine()));
    Function<TestScheduler, TaskSubmitService> factory = builder.tasks;
    this.tasks = new Once<>(() -> factory.apply(this));
    this.pending = new Once<>(builder.pending);
    begin();
  }

  /** A scheduler without workers, whose clock shows the present time. */
  public static TestScheduler create() {
    return builder().build();
  }

  /** A scheduler that differs from that in parts. */
  public static Builder builder() {
    return new Builder();
  }

  /** Collects what a scheduler shall be like. */
  public static final class Builder {

    private String application = "test";
    private @Nullable Instant start;
    private int maxAttempts = DEFAULT_MAX_ATTEMPTS;
    private RetryPolicy retry = RetryPolicy.DEFAULT;
    private Supplier<TaskWorkers> workers = () -> new TaskWorkers(Map.of());
    private Supplier<List<JobListener>> listeners = List::of;
    private Supplier<PendingCalls> pending = () -> PendingCalls.NONE;
    private Function<TestScheduler, TaskSubmitService> tasks =
        scheduler ->
            new SpringTaskSubmitService(
                scheduler.jobScheduler(),
                Payloads.plain(),
                type -> WorkerSettings.NONE,
                Transactions.AFTER_COMMIT,
                new DirectCalls(scheduler.jobScheduler(), CommitFailures.NONE),
                scheduler.clock(),
                null,
                SubmitObservations.NONE);

    private Builder() {}

    /**
     * Whose jobs these are; {@code test} without this call.
     *
     * @throws IllegalArgumentException if it is no name: {@link Limits#isName}
     */
    public Builder application(String name) {
      application = Limits.requireName("application", name);
      return this;
    }

    /** What the clock shows at first, to the millisecond; the present time without this call. */
    public Builder startingAt(Instant instant) {
      start = instant;
      return this;
    }

    /** The retry policy of jobs that bring none; {@link RetryPolicy#DEFAULT} without this call. */
    public Builder retry(RetryPolicy policy) {
      retry = policy;
      return this;
    }

    /**
     * How many attempts one {@link #advance} runs at most before it takes what it runs for an
     * endless loop; {@value #DEFAULT_MAX_ATTEMPTS} without this call.
     *
     * @throws IllegalArgumentException if it is less than 1
     */
    public Builder maxAttempts(int attempts) {
      if (attempts < 1) {
        throw new IllegalArgumentException("maxAttempts must be 1 or more, not " + attempts);
      }
      maxAttempts = attempts;
      return this;
    }

    /**
     * The workers of an application.
     *
     * @param source asked once, when they are needed at first: workers may themselves submit jobs,
     *     and so need the scheduler before they are there
     */
    public Builder workers(Supplier<TaskWorkers> source) {
      workers = source;
      return this;
    }

    /**
     * Who is told of each attempt.
     *
     * @param source asked once, when the first attempt has ended
     */
    public Builder listeners(Supplier<List<JobListener>> source) {
      listeners = source;
      return this;
    }

    /**
     * What the application submits to. Without this call, that is what the starters make of their
     * defaults, and a mapper without settings writes payloads.
     *
     * @param factory asked once, when it is needed at first; it stands before {@link
     *     TestScheduler#jobScheduler}
     */
    public Builder taskSubmitService(Function<TestScheduler, TaskSubmitService> factory) {
      tasks = factory;
      return this;
    }

    /**
     * Calls that the application keeps until a scheduler has taken them. They are made before
     * anything runs, and forgotten by {@link TestScheduler#reset}. None without this call.
     *
     * @param source asked once, when it is needed at first
     */
    public Builder pendingCalls(Supplier<PendingCalls> source) {
      pending = source;
      return this;
    }

    /** The scheduler. */
    public TestScheduler build() {
      return new TestScheduler(this);
    }
  }

  /** Asks a source when its value is needed at first. */
  private static final class Once<T> implements Supplier<T> {

    private final Supplier<T> source;
    private @Nullable T value;

    Once(Supplier<T> source) {
      this.source = source;
    }

    @Override
    public synchronized T get() {
      if (value == null) {
        value = source.get();
      }
      return value;
    }
  }

  /** The code of a worker, without its type. */
  @FunctionalInterface
  public interface Work {

    /** As {@link TaskWorker#invoke}. */
    void invoke(String params) throws Exception;
  }

  /**
   * Adds a worker. It takes the place of one that the application has for this type, until {@link
   * #reset}.
   *
   * @throws io.punctual.internal.WorkerSetupException if the type was registered before, or is no
   *     valid name
   */
  public TestScheduler register(TaskWorker worker) {
    workersOfTest.add("a worker of the test", worker);
    return this;
  }

  /**
   * Adds a worker, as {@link #register(TaskWorker)}.
   *
   * @param work runs for each job of the type
   */
  public TestScheduler register(String taskType, Work work) {
    return register(
        new TaskWorker() {
          @Override
          public String type() {
            return taskType;
          }

          @Override
          public void invoke(String params) throws Exception {
            work.invoke(params);
          }

          @Override
          public Class<?> clazz() {
            return work.getClass();
          }
        });
  }

  /** The task types that have a worker, in ascending order. */
  public Set<String> taskTypes() {
    Set<String> types = new TreeSet<>(workersOfApplication.get().types());
    types.addAll(workersOfTest.types());
    return types;
  }

  /** What the application under test submits to. The same after a {@link #reset}. */
  public TaskSubmitService taskSubmitService() {
    return tasks.get();
  }

  /** What stands behind the {@link #taskSubmitService}: it knows no payloads and transactions. */
  public JobScheduler jobScheduler() {
    return jobScheduler;
  }

  /**
   * The scheduler's clock, for the application under test; an {@link java.time.InstantSource} as
   * well. The same after a {@link #reset}.
   */
  public Clock clock() {
    return clock;
  }

  /** What shall go wrong. */
  public Faults faults() {
    return faults;
  }

  /** What the clock shows. */
  public Instant now() {
    return clock.instant();
  }

  /**
   * Moves the clock, and runs on the way whatever falls due, each job at its own time: also what is
   * submitted by workers meanwhile, and each repeated attempt. At the end the clock shows so much
   * more than before.
   *
   * <p>Jobs whose type has no worker stay where they are, as they do in a real scheduler.
   *
   * @param duration zero or more
   * @return the attempts that ran, in their order
   * @throws IllegalStateException if there are more attempts than one call may run, or if this is
   *     called by a worker, or while another thread is in such a call
   * @throws AssertionError if a worker throws one: it is taken for the test's own. The clock then
   *     stays where it is
   */
  public List<Attempt> advance(Duration duration) {
    if (duration.isNegative()) {
      throw new IllegalArgumentException(
          "the clock moves forwards only, not by " + duration + "; reset() sets it back");
    }
    return walk("advance(" + duration + ")", now().plus(duration));
  }

  /**
   * As {@link #advance}, up to a moment.
   *
   * @param instant not before {@link #now}
   */
  public List<Attempt> advanceTo(Instant instant) {
    if (instant.isBefore(now())) {
      throw new IllegalArgumentException(
          "the clock moves forwards only: it shows " + now() + ", which is after " + instant);
    }
    return walk("advanceTo(" + instant + ")", instant);
  }

  /** Runs what is due, and moves no clock; otherwise as {@link #advance}. */
  public List<Attempt> runDue() {
    return walk("runDue()", now());
  }

  private List<Attempt> walk(String call, Instant until) {
    if (until.isAfter(Limits.MAX_DUE)) {
      throw new IllegalArgumentException(call + " would end after " + Limits.MAX_DUE);
    }
    lock(call);
    try {
      Walk walk = new Walk(call);
      walk.to(until.toEpochMilli());
      return List.copyOf(walk.ran);
    } finally {
      stepping.unlock();
    }
  }

  private void lock(String call) {
    if (stepping.isHeldByCurrentThread()) {
      throw new IllegalStateException(
          call + " was called by a worker; the clock moves between attempts only");
    }
    if (!stepping.tryLock()) {
      throw new IllegalStateException(
          call + " was called while another thread moves the clock of this scheduler");
    }
  }

  /** One call that moves the clock, or runs what is due. */
  private final class Walk {

    private final String call;
    private final List<Attempt> ran = new ArrayList<>();

    Walk(String call) {
      this.call = call;
    }

    void to(long until) {
      runDue();
      OptionalLong next = stepper.next(TestScheduler.this::serves);
      while (!faults.isAway() && next.isPresent() && next.getAsLong() <= until) {
        millis.set(next.getAsLong());
        runDue();
        next = stepper.next(TestScheduler.this::serves);
      }
      millis.set(until);
      if (!faults.isAway()) {
        // A job without a worker may be too late by now.
        var unused = stepper.step(queue -> false);
      }
    }

    private void runDue() {
      Optional<Delivery> delivery = next();
      while (delivery.isPresent()) {
        if (ran.size() >= maxAttempts) {
          stored(delivery.get().release());
          throw endless(delivery.get());
        }
        run(delivery.get());
        delivery = next();
      }
    }

    private Optional<Delivery> next() {
      if (faults.isAway()) {
        return Optional.empty();
      }
      pending.get().make();
      return stepper.step(TestScheduler.this::serves);
    }

    private IllegalStateException endless(Delivery next) {
      return new IllegalStateException(
          ("%s has run %d attempts and there is no end: at %s, job %s of %s is due. Does a worker"
                  + " submit jobs that are due at once, or is the retry policy one of zeros? The"
                  + " last was: %s. If so many are right, raise the bound (maxAttempts)")
              .formatted(
                  call,
                  ran.size(),
                  now(),
                  next.taskId(),
                  next.queue().taskType(),
                  ran.get(ran.size() - 1)));
    }

    private void run(Delivery delivery) {
      // It serves the queue: only a reset takes workers away, and none is made during a walk.
      TaskWorker worker = Objects.requireNonNull(worker(delivery.queue()));
      Fault fault = faults.next(delivery.queue().taskType());
      if (fault == Fault.WORKER_KILLED) {
        remember(delivery, Attempt.Outcome.UNKNOWN, null);
        stored(connectionBroke(delivery));
        return;
      }
      run(worker, delivery, fault);
      if (fault == Fault.DELIVERED_TWICE) {
        run(worker, delivery, null);
      }
    }

    private void run(TaskWorker worker, Delivery delivery, @Nullable Fault fault) {
      faults.begin();
      TimeLimit limit = new TimeLimit(timeToRun(delivery), () -> {});
      RunningAttempt context = context(delivery, limit);
      delivery.onCancelling(limit::cancel);
      Throwable thrown = invoke(worker, delivery, context, limit);
      boolean killed = faults.endKilled();
      if (limit.struck() && !limit.cancelled()) {
        remember(delivery, Attempt.Outcome.UNKNOWN, thrown);
        stored(tookTooLong(delivery));
      } else if (killed || fault == Fault.ANSWER_LOST) {
        remember(delivery, Attempt.Outcome.UNKNOWN, thrown);
        stored(connectionBroke(delivery));
      } else if (fault == Fault.SCHEDULER_KILLED) {
        // Nobody tells the store: the lease runs out.
        remember(delivery, Attempt.Outcome.UNKNOWN, thrown);
      } else {
        Duration deferred = context.deferred();
        remember(
            delivery,
            limit.cancelled() && thrown != null
                ? Attempt.Outcome.CANCELLED
                : outcome(thrown, deferred != null),
            thrown);
        stored(end(delivery, thrown, deferred));
      }
      if (thrown instanceof AssertionError error) {
        throw error;
      }
    }

    private void remember(Delivery delivery, Attempt.Outcome outcome, @Nullable Throwable error) {
      Attempt attempt =
          new Attempt(
              delivery.queue().taskType(),
              delivery.taskId(),
              delivery.attempt(),
              delivery.content().params(),
              Instant.ofEpochMilli(delivery.dueTime()),
              Instant.ofEpochMilli(delivery.lateSince()),
              now(),
              outcome,
              error);
      ran.add(attempt);
      synchronized (attempts) {
        attempts.add(attempt);
      }
    }
  }

  private static CompletableFuture<Void> connectionBroke(Delivery delivery) {
    return delivery.unknown(
        new ErrorNote(INSTANCE, "the connection broke before the answer was there"),
        true,
        RepeatCause.ANSWER_LOST);
  }

  private static CompletableFuture<Void> tookTooLong(Delivery delivery) {
    return delivery.unknown(
        new ErrorNote(
            INSTANCE,
            "its future was not completed within its time-to-run of " + timeToRun(delivery)),
        true,
        RepeatCause.TIME_OVER);
  }

  private @Nullable Throwable invoke(
      TaskWorker worker, Delivery delivery, RunningAttempt context, TimeLimit limit) {
    Instant at = now();
    delivery.started();
    long began = System.nanoTime();
    CompletableFuture<@Nullable Throwable> end = new CompletableFuture<>();
    Invocation.call(
        worker, delivery.content().params(), context, limit, Runnable::run, end::complete);
    Throwable thrown = await(end, delivery, limit);
    listeners
        .get()
        .ended(
            new JobAttempt(
                delivery.queue().taskType(),
                delivery.taskId(),
                delivery.attempt(),
                Instant.ofEpochMilli(delivery.dueTime()),
                at,
                Duration.ofNanos(System.nanoTime() - began),
                JobListeners.outcome(thrown, context.deferred() != null),
                thrown));
    return thrown;
  }

  /**
   * Waits for a future that the worker left behind, as long as the job may run by a real clock: the
   * scheduler's stands still while a worker runs.
   */
  private static @Nullable Throwable await(
      CompletableFuture<@Nullable Throwable> end, Delivery delivery, TimeLimit limit) {
    try {
      if (end.isDone()) {
        // However long it took by a real clock.
        return end.get();
      }
      // It may ask for more meanwhile.
      for (Duration left = limit.left(); !left.isZero(); left = limit.left()) {
        try {
          return end.get(left.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
          log.trace("{} ms were over", left.toMillis(), e);
        }
      }
      limit.strike();
      return new TimeoutException(
          "the future of job %s of %s was not completed within %s of real time, its time-to-run"
              .formatted(delivery.taskId(), delivery.queue().taskType(), limit.timeToRun()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      limit.interrupt();
      return e;
    } catch (ExecutionException e) {
      throw new IllegalStateException("not completed exceptionally by any caller", e);
    }
  }

  private static Duration timeToRun(Delivery delivery) {
    Duration allowed = delivery.content().timeToRun();
    return allowed != null ? allowed : Limits.DEFAULT_TIME_TO_RUN;
  }

  // No time passes while a worker runs: but for a future that nobody completes, nothing strikes the
  // limit.
  private RunningAttempt context(Delivery delivery, TimeLimit limit) {
    return new RunningAttempt(
        delivery.queue().taskType(),
        delivery.taskId(),
        delivery.incarnation(),
        delivery.attempt(),
        delivery.dueTime(),
        delivery.lateSince(),
        delivery.content().headers(),
        clock,
        limit,
        new LocalLease(delivery));
  }

  private static CompletableFuture<Void> end(
      Delivery delivery, @Nullable Throwable thrown, @Nullable Duration deferred) {
    if (JobListeners.outcome(thrown, false) == JobAttempt.Outcome.FAILED) {
      // Tests let workers fail on purpose; what it was is in the attempt.
      log.debug(
          "Job {} of {} failed, attempt {}",
          delivery.taskId(),
          delivery.queue(),
          delivery.attempt(),
          thrown);
    }
    return WorkerEnds.store(delivery, INSTANCE, thrown, deferred);
  }

  private static Attempt.Outcome outcome(@Nullable Throwable thrown, boolean deferred) {
    return switch (JobListeners.outcome(thrown, deferred)) {
      case DONE -> Attempt.Outcome.DONE;
      case DEFERRED -> Attempt.Outcome.DEFERRED;
      case FAILED -> Attempt.Outcome.FAILED;
      case RETRY_LATER -> Attempt.Outcome.RETRY_LATER;
      case REJECTED -> Attempt.Outcome.REJECTED;
    };
  }

  // All happens on this thread: it is there already, or went wrong.
  private static void stored(CompletableFuture<Void> end) {
    end.join();
  }

  private boolean serves(QueueName queue) {
    return worker(queue) != null;
  }

  private @Nullable TaskWorker worker(QueueName queue) {
    TaskWorker own = workersOfTest.find(queue.taskType());
    return own != null ? own : workersOfApplication.get().find(queue.taskType());
  }

  /**
   * Creates or replaces a calendar, the dates on which jobs that name it do not start.
   *
   * @param name as jobs name it
   */
  public void putCalendar(String name, LocalDate... dates) {
    var unused = stepper.engine().calendars().put(name, List.of(dates));
  }

  /** All attempts since the scheduler was made or {@link #reset}, in their order. */
  public List<Attempt> attempts() {
    synchronized (attempts) {
      return List.copyOf(attempts);
    }
  }

  /** The attempts of jobs of one type, in their order. */
  public List<Attempt> attempts(String taskType) {
    return attempts().stream().filter(attempt -> attempt.taskType().equals(taskType)).toList();
  }

  /**
   * All jobs that are there: those that wait, by due time, then those in delivery, then the dead
   * letters. Finished and cancelled ones are gone.
   */
  public List<StoredJob> jobs() {
    return engine().queues().keySet().stream()
        .sorted()
        .flatMap(queue -> jobs(queue.taskType()).stream())
        .toList();
  }

  /** As {@link #jobs()}, of one type. */
  public List<StoredJob> jobs(String taskType) {
    List<StoredJob> found = new ArrayList<>();
    for (JobState state : List.of(JobState.DELAYED, JobState.RESERVED, JobState.DEAD)) {
      found.addAll(jobs(queue(taskType), state));
    }
    return List.copyOf(found);
  }

  /** The dead letters of all types. */
  public List<StoredJob> deadLetters() {
    return jobs().stream().filter(job -> job.state() == StoredJob.State.DEAD).toList();
  }

  /** A job, if it is there; finished and cancelled ones are gone. */
  public Optional<StoredJob> find(String taskType, String taskId) {
    return view(taskType, taskId).filter(TestScheduler::isThere).map(StoredJob::of);
  }

  /**
   * Gives a dead letter a new life, as an operator does: it is due at once, with all its attempts.
   *
   * @return whether there is such a dead letter
   */
  public boolean requeue(String taskType, String taskId) {
    return engine().operations().requeue(queue(taskType), Limits.requireTaskId(taskId), null).kind()
        == Requeued.Kind.REQUEUED;
  }

  /** A job as the engine sees it, also one that is finished or cancelled and not yet forgotten. */
  Optional<JobView> view(String taskType, String taskId) {
    return engine().find(queue(taskType), taskId);
  }

  private static boolean isThere(JobView job) {
    return job.state() != JobState.FINISHED && job.state() != JobState.CANCELLED;
  }

  private List<StoredJob> jobs(QueueName queue, JobState state) {
    List<StoredJob> found = new ArrayList<>();
    Cursor after = null;
    do {
      Operations.Listed<Cursor> page =
          engine().operations().jobs(queue, state, after, JobStore.MAX_JOBS);
      // Lists have no contents.
      for (JobView job : page.jobs()) {
        find(queue.taskType(), job.taskId()).ifPresent(found::add);
      }
      after = page.next();
    } while (after != null);
    return found;
  }

  private QueueName queue(String taskType) {
    return new QueueName(application, taskType);
  }

  private Engine engine() {
    return stepper.engine();
  }

  /**
   * Forgets all jobs, attempts, faults and workers of the test, drops what the application's outbox
   * holds, and sets the clock to where it begins. To be called between tests that share a
   * scheduler.
   *
   * @throws IllegalStateException if this is called by a worker, or while another thread moves the
   *     clock
   */
  public void reset() {
    lock("reset()");
    try {
      pending.get().forget();
      begin();
    } finally {
      stepping.unlock();
    }
  }

  private void begin() {
    workersOfTest = new TaskWorkers(Map.of());
    faults.clear();
    calendars.clear();
    var unused = stepper.engine().calendars().all();
    store.clear();
    schedules.clear();
    synchronized (attempts) {
      attempts.clear();
    }
    random.setSeed(SEED);
    Instant begin = start != null ? start : Instant.now();
    millis.set(begin.truncatedTo(ChronoUnit.MILLIS).toEpochMilli());
  }
}
