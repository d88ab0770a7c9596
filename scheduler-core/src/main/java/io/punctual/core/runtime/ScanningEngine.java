package io.punctual.core.runtime;

import io.punctual.DelayQueueJob;
import io.punctual.RetryPolicy;
import io.punctual.core.Claims;
import io.punctual.core.Dispatcher;
import io.punctual.core.Engine;
import io.punctual.core.EngineOptions;
import io.punctual.core.LossJournal;
import io.punctual.core.Operations;
import io.punctual.core.QueueListener;
import io.punctual.core.QueueStamps;
import io.punctual.core.QueueStats;
import io.punctual.core.ScannerHealth;
import io.punctual.core.Schedules;
import io.punctual.core.StoreHealth;
import io.punctual.core.Submit;
import io.punctual.core.admin.StoreOperations;
import io.punctual.core.admin.Views;
import io.punctual.core.calendar.Calendars;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.CorruptContentException;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.JobContentCodec;
import io.punctual.core.job.Opening;
import io.punctual.core.job.Origin;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.RandomNames;
import io.punctual.core.pull.PulledClaims;
import io.punctual.core.recovery.Outages;
import io.punctual.core.recovery.StoreWatch;
import io.punctual.core.recur.Jobs;
import io.punctual.core.recur.ScheduleDriver;
import io.punctual.core.recur.StoreSchedules;
import io.punctual.core.scan.ScanSignals;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Store;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.Submission;
import io.punctual.core.store.query.BucketStats;
import io.punctual.core.store.query.JobView;
import io.punctual.core.store.query.Stamps;
import io.punctual.core.times.Hours;
import io.punctual.core.times.StartTimes;
import io.punctual.core.wake.BucketSignal;
import io.punctual.core.work.Refusals;
import io.punctual.core.work.Threads;
import io.punctual.schedule.TimeRules;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** The doors of the engine; what works behind them is a {@link Session}. */
final class ScanningEngine implements Engine {

  private final Store store;
  private final JobStore jobs;
  private final EngineOptions options;
  private final Dispatcher dispatcher;
  private final @Nullable ScanSignals signals;
  private final Supplier<Threads> threads;
  private final Supplier<RandomGenerator> random;
  private final @Nullable LongSupplier steps;
  private final Claims claims;
  private final Operations operations;
  private final Calendars calendars;
  private final StartTimes times;
  private final ScheduleDriver driver;
  private final Schedules schedules;
  private volatile Session session;

  ScanningEngine(
      Store store, EngineOptions options, Dispatcher dispatcher, @Nullable ScanSignals signals) {
    this(store, options, dispatcher, signals, Threads::inBackground, Random::new, null);
  }

  /**
   * @param threads asked for each session
   * @param random asked for each bucket
   * @param steps the time of an engine that is stepped, monotonic ns; null for one that runs
   */
  ScanningEngine(
      Store store,
      EngineOptions options,
      Dispatcher dispatcher,
      @Nullable ScanSignals signals,
      Supplier<Threads> threads,
      Supplier<RandomGenerator> random,
      @Nullable LongSupplier steps) {
    this.steps = steps;
    this.threads = threads;
    this.random = random;
    this.jobs = store.jobs();
    this.store = store;
    this.options = options;
    this.dispatcher = dispatcher;
    this.signals = signals;
    this.calendars = new Calendars(store.calendars(), steps != null ? steps : System::nanoTime);
    this.times = new StartTimes(calendars::closed);
    this.session = session();
    this.claims = new PulledClaims(jobs, () -> session);
    this.operations =
        new StoreOperations(
            jobs,
            options,
            times,
            this::buckets,
            store.queues(),
            (bucket, taskId) -> session.cancelling(bucket, taskId));
    RecurringJobs recurring = new RecurringJobs();
    this.driver = new ScheduleDriver(store.schedules(), recurring, calendars, this::listener);
    this.schedules = new StoreSchedules(store.schedules(), recurring, calendars, driver::wake);
  }

  @Override
  public synchronized void start() {
    StoreWatch.requireFit(store);
    if (session.isClosed()) {
      session = session();
    }
    session.start();
    driver.start(session.shared().context());
  }

  private final class RecurringJobs implements Jobs {

    @Override
    public CompletableFuture<Submit> submit(
        String application, DelayQueueJob job, String submitter) {
      return ScanningEngine.this.submit(application, job, submitter);
    }

    @Override
    public Optional<JobView> find(QueueName queue, String taskId) {
      return ScanningEngine.this.find(queue, taskId);
    }
  }

  private QueueListener listener(QueueName queue) {
    return new SafeListener(
        queue, options.listener().of(queue), session.shared().context().defects());
  }

  /** Fires the schedules of an engine that is stepped. */
  ScheduleDriver driver() {
    return driver;
  }

  private Session session() {
    return new Session(store, options, dispatcher, signals, threads.get(), random, times, steps);
  }

  @Override
  public List<String> inUse() {
    return session.inUse();
  }

  private List<BucketSignal> buckets(QueueName queue) {
    return session.queues().find(queue).map(found -> found.signals).orElse(List.of());
  }

  /** The queues as they are known now. */
  Queues seen() {
    return session.queues();
  }

  // Not synchronized: a close ends the wait of a stop that is under way.
  @Override
  public void stop(Duration patience) {
    driver.stop();
    session.stop(patience);
  }

  @Override
  public void close() {
    driver.stop();
    session.close();
  }

  @Override
  public CompletableFuture<Submit> submit(
      String application, DelayQueueJob job, @Nullable String submitter) {
    QueueName queue = new QueueName(application, job.taskType());
    Submission submission = submission(queue, job, submitter);
    CompletableFuture<Submit> answer = new CompletableFuture<>();
    Session now = session;
    if (now.isClosed()) {
      answer.completeExceptionally(Refusals.closed());
      return answer;
    }
    int size = submission.content().length;
    if (!now.shared().admission().enter(size)) {
      answer.completeExceptionally(
          new StoreException(
              StoreException.Kind.REFUSED,
              "too many submissions wait for the store; nothing was stored, try again later"));
      return answer;
    }
    QueueWorkers seen = now.queues().seen(queue);
    if (seen != null && !now.queues().isRegistering(queue)) {
      seen.worker(job.taskId()).submitter.submit(submission, answer);
    } else {
      var unused =
          now.queues()
              .registered(queue)
              .whenComplete(
                  (workers, error) -> submitFirst(now, workers, error, submission, answer));
    }
    return answer;
  }

  private static void submitFirst(
      Session now,
      @Nullable QueueWorkers workers,
      @Nullable Throwable error,
      Submission submission,
      CompletableFuture<Submit> answer) {
    if (workers == null) {
      now.shared().admission().leave(submission.content().length);
      answer.completeExceptionally(error == null ? Refusals.closed() : error);
      return;
    }
    workers.worker(submission.taskId()).submitter.submit(submission, answer);
    if (now.isClosed()) {
      workers.close();
    }
  }

  private Submission submission(QueueName queue, DelayQueueJob job, @Nullable String submitter) {
    JobContent content = JobContent.of(job);
    RetryPolicy retry = job.retry() != null ? job.retry() : options.retry().apply(queue);
    return new Submission(
        job.taskId(),
        RandomNames.incarnation(),
        content.due(),
        retry.maxAttempts(),
        job.timeToRun() == null ? 0 : job.timeToRun().toMillis(),
        Origin.of(job.headers(), submitter),
        content.indexTags(),
        JobContentCodec.encode(content),
        job.onConflict());
  }

  @Override
  public Claims claims() {
    return claims;
  }

  @Override
  public Calendars calendars() {
    return calendars;
  }

  @Override
  public Schedules schedules() {
    return schedules;
  }

  @Override
  public Operations operations() {
    return operations;
  }

  @Override
  public Optional<JobView> find(QueueName queue, String taskId) {
    return session
        .queues()
        .find(queue)
        .flatMap(found -> jobs.find(found.worker(taskId).bucket, taskId));
  }

  @Override
  public Map<QueueName, Integer> queues() {
    return session.queues().directory();
  }

  @Override
  public Optional<QueueStats> stats(QueueName queue) {
    return session.queues().find(queue).map(this::stats);
  }

  @Override
  public QueueStamps stamps(Collection<QueueName> queues) {
    List<QueueWorkers> found = new ArrayList<>();
    List<Bucket> buckets = new ArrayList<>();
    for (QueueName queue : queues) {
      QueueWorkers workers = session.queues().find(queue).orElse(null);
      if (workers != null) {
        found.add(workers);
        workers.workers.forEach(worker -> buckets.add(worker.bucket));
      }
    }
    long now = 0;
    List<String> read = new ArrayList<>();
    for (int from = 0; from < buckets.size(); from += JobStore.MAX_JOBS) {
      Stamps stamps =
          jobs.stamps(buckets.subList(from, Math.min(buckets.size(), from + JobStore.MAX_JOBS)));
      now = stamps.now();
      read.addAll(stamps.of());
    }
    Map<QueueName, String> of = new HashMap<>();
    int next = 0;
    for (QueueWorkers workers : found) {
      List<String> own = read.subList(next, next + workers.workers.size());
      of.put(workers.queue, own.contains("") ? "" : String.join(" ", own));
      next += own.size();
    }
    return new QueueStamps(now, of);
  }

  // A bucket that is damaged must not hide the others, of this queue and of all that are listed.
  private QueueStats stats(QueueWorkers found) {
    List<BucketStats> whole = new ArrayList<>();
    String damage = null;
    for (BucketWorker worker : found.workers) {
      try {
        whole.add(jobs.stats(worker.bucket));
      } catch (StoreException e) {
        if (!Outages.isDamage(e)) {
          throw e;
        }
        damage = damage == null ? e.getMessage() : damage;
      }
    }
    TimeRules hours = TimeRules.NONE;
    Opening opening = null;
    try {
      // By the hours themselves: a bucket of which nothing is claimed has an opening of long ago.
      hours = Hours.read(Views.hours(whole));
      opening = hours.hasHours() ? times.opening(hours, Views.now(whole)) : null;
    } catch (StoreException e) {
      if (!Outages.isDamage(e)) {
        throw e;
      }
      damage = damage == null ? e.getMessage() : damage;
    } catch (CorruptContentException e) {
      damage = damage == null ? e.getMessage() : damage;
    }
    return Views.queue(
        found.queue,
        found.workers.size(),
        whole,
        found.workers.stream().anyMatch(worker -> !worker.keeper.open().isEmpty()),
        dispatcher.hasCapacity(found.queue),
        hours,
        opening,
        damage);
  }

  @Override
  public StoreHealth storeHealth() {
    return session.watch().health();
  }

  @Override
  public SortedMap<String, String> members() {
    return session.members();
  }

  @Override
  public ScannerHealth scanners() {
    return session.scanners();
  }

  @Override
  public LossJournal lossJournal() {
    return session.watch().journal();
  }

  @Override
  public LossJournal requestResend(Instant since) {
    return session.watch().requestResend(since);
  }

  @Override
  public void acknowledgeLosses() {
    session.watch().acknowledgeLosses();
  }

  @Override
  public void capacityChanged(QueueName queue) {
    session.shared().capacity().changed(queue);
  }
}
