package io.punctual.core.engine;

import io.punctual.CancelResult;
import io.punctual.DelayQueueJob;
import io.punctual.RescheduleResult;
import io.punctual.RetryPolicy;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.JobContentCodec;
import io.punctual.core.job.JobState;
import io.punctual.core.queue.Bucket;
import io.punctual.core.queue.QueueName;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Requeued;
import io.punctual.core.store.Rescheduled;
import io.punctual.core.store.Store;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.Submission;
import io.punctual.core.store.WakeUps;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The engine: the doors of {@link Engine}, and starting and stopping of the duties behind them. */
final class ScanningEngine implements Engine {

  private static final Logger log = LoggerFactory.getLogger(ScanningEngine.class);
  private static final int LOOKS_AT_ONCE = 16;

  /** How long a stop waits for the store to take the last endings. */
  private static final Duration FLUSH = Duration.ofSeconds(2);

  private enum Phase {
    NEW,
    RUNNING,
    STOPPING,
    CLOSED
  }

  private final JobStore jobs;
  private final WakeUps wakeUps;
  private final EngineOptions options;
  private final Context context;
  private final Queues queues;
  private final Object lifecycle = new Object();
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile Phase phase = Phase.NEW;
  private @Nullable AutoCloseable listening;

  ScanningEngine(
      Store store, EngineOptions options, Dispatcher dispatcher, @Nullable ScanSignals signals) {
    long start = System.nanoTime();
    this.jobs = store.jobs();
    this.wakeUps = store.wakeUps();
    this.options = options;
    this.context =
        new Context(
            jobs,
            options,
            dispatcher,
            new Threads(),
            () -> System.nanoTime() - start,
            new Contact(options.lease()),
            new Outages(),
            new InFlight(),
            new Admission(),
            new IdleChecks(options.idleChecksPerSecond()),
            new Semaphore(LOOKS_AT_ONCE),
            signals);
    this.queues = new Queues(store.queues(), context);
  }

  @Override
  public void start() {
    synchronized (lifecycle) {
      if (phase == Phase.RUNNING) {
        return;
      }
      if (phase != Phase.NEW) {
        throw new IllegalStateException("this engine was stopped; make a new one");
      }
      phase = Phase.RUNNING;
      queues.start();
      listening = wakeUps.listen(new Hints());
    }
  }

  @Override
  public void stop(Duration patience) {
    boolean running;
    synchronized (lifecycle) {
      running = phase == Phase.RUNNING;
      if (running) {
        phase = Phase.STOPPING;
      }
    }
    try {
      if (running) {
        queues.stop();
        drain(patience);
      } else if (phase == Phase.STOPPING) {
        // Somebody else's stop is under way.
        var unused = closed.await(patience.toMillis(), TimeUnit.MILLISECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    close();
  }

  private void drain(Duration patience) throws InterruptedException {
    long end = context.now() + patience.toNanos();
    for (QueueLanes queue : queues.all()) {
      for (Lane lane : queue.lanes) {
        lane.scanner.join(Duration.ofNanos(end - context.now()));
      }
    }
    if (!context.inFlight().awaitNone(Duration.ofNanos(end - context.now()))) {
      int left = 0;
      for (QueueLanes queue : queues.all()) {
        for (Lane lane : queue.lanes) {
          for (OpenDelivery delivery : lane.keeper.open()) {
            var unused =
                delivery.unknown(
                    options.owner(), "the scheduler stopped before the answer came", false);
            left++;
          }
        }
      }
      log.warn(
          "Deliveries still open after {} at the stop: {}; they will be delivered again",
          patience,
          left);
      if (!context.inFlight().awaitNone(FLUSH)) {
        log.warn("The store did not take the ends of all deliveries; their leases run out");
      }
    }
  }

  @Override
  public void close() {
    AutoCloseable listener;
    synchronized (lifecycle) {
      if (phase == Phase.CLOSED) {
        return;
      }
      phase = Phase.CLOSED;
      listener = listening;
    }
    queues.stop();
    for (QueueLanes queue : queues.all()) {
      queue.close();
    }
    context.inFlight().close();
    context.threads().close();
    if (listener != null) {
      try {
        listener.close();
      } catch (Exception e) {
        log.warn("The listening for wake-ups did not end cleanly", e);
      }
    }
    closed.countDown();
  }

  @Override
  public CompletableFuture<Submit> submit(String application, DelayQueueJob job, boolean replace) {
    QueueName queue = new QueueName(application, job.taskType());
    Submission submission = submission(queue, job, replace);
    CompletableFuture<Submit> answer = new CompletableFuture<>();
    if (phase == Phase.CLOSED) {
      answer.completeExceptionally(Submitter.closed());
      return answer;
    }
    int size = submission.content().length;
    if (!context.admission().enter(size)) {
      answer.completeExceptionally(
          new StoreException(
              StoreException.Kind.REFUSED,
              "too many submissions wait for the store; nothing was stored, try again later"));
      return answer;
    }
    QueueLanes seen = queues.seen(queue);
    if (seen != null) {
      seen.lane(job.taskId()).submitter.submit(submission, answer);
    } else {
      context.threads().run(() -> submitFirst(queue, submission, answer));
    }
    return answer;
  }

  private void submitFirst(
      QueueName queue, Submission submission, CompletableFuture<Submit> answer) {
    try {
      QueueLanes lanes = queues.register(queue);
      lanes.lane(submission.taskId()).submitter.submit(submission, answer);
      if (phase == Phase.CLOSED) {
        lanes.close();
      }
    } catch (RuntimeException e) {
      context.admission().leave(submission.content().length);
      answer.completeExceptionally(e);
    }
  }

  private Submission submission(QueueName queue, DelayQueueJob job, boolean replace) {
    Due due =
        job.delay() != null
            ? Due.in(job.delay().toMillis())
            : Due.at(Objects.requireNonNull(job.delayTime()));
    JobContent content =
        new JobContent(due, job.params(), job.timeToRun(), job.retry(), job.headers());
    RetryPolicy retry = job.retry() != null ? job.retry() : options.retry().apply(queue);
    return new Submission(
        job.taskId(),
        Secrets.incarnation(),
        due,
        retry.maxAttempts(),
        JobContentCodec.encode(content),
        replace);
  }

  @Override
  public CancelResult cancel(QueueName queue, String taskId) {
    return queues
        .find(queue)
        .map(found -> jobs.cancel(found.lane(taskId).bucket, taskId))
        .orElseGet(() -> new CancelResult(CancelResult.Outcome.UNKNOWN, 0));
  }

  @Override
  public RescheduleResult reschedule(QueueName queue, String taskId, Due due) {
    Optional<QueueLanes> found = queues.find(queue);
    if (found.isEmpty()) {
      return new RescheduleResult(RescheduleResult.Outcome.UNKNOWN, null, 0);
    }
    Lane lane = found.get().lane(taskId);
    Rescheduled rescheduled = jobs.reschedule(lane.bucket, taskId, due);
    wake(lane, rescheduled.newHead());
    return rescheduled.result();
  }

  @Override
  public boolean requeue(QueueName queue, String taskId) {
    Optional<QueueLanes> found = queues.find(queue);
    if (found.isEmpty()) {
      return false;
    }
    Lane lane = found.get().lane(taskId);
    Requeued requeued = jobs.requeue(lane.bucket, List.of(taskId), Duration.ZERO);
    wake(lane, requeued.newHead());
    return requeued.taskIds().contains(taskId);
  }

  @Override
  public boolean purge(QueueName queue, String taskId) {
    return queues
        .find(queue)
        .filter(found -> jobs.purge(found.lane(taskId).bucket, JobState.DEAD, List.of(taskId)) > 0)
        .isPresent();
  }

  @Override
  public Optional<JobView> find(QueueName queue, String taskId) {
    return queues
        .find(queue)
        .flatMap(found -> jobs.find(found.lane(taskId).bucket, taskId))
        .map(job -> Views.job(queue, job));
  }

  @Override
  public Map<QueueName, Integer> queues() {
    return queues.directory();
  }

  @Override
  public Optional<QueueStats> stats(QueueName queue) {
    return queues
        .find(queue)
        .map(
            found ->
                Views.queue(
                    queue,
                    found.lanes.stream().map(lane -> jobs.stats(lane.bucket)).toList(),
                    found.lanes.stream().anyMatch(lane -> !lane.keeper.open().isEmpty()),
                    context.dispatcher().capacity(queue) > 0));
  }

  @Override
  public void capacityChanged(QueueName queue) {
    QueueLanes seen = queues.seen(queue);
    if (seen != null) {
      seen.lanes.forEach(lane -> lane.bell.room());
    }
  }

  private static void wake(Lane lane, @Nullable Long newHead) {
    if (newHead != null) {
      lane.bell.head(newHead);
    }
  }

  /** What the store tells all engines. */
  private final class Hints implements WakeUps.Listener {

    @Override
    public void newHead(Bucket bucket, long due) {
      QueueLanes seen = queues.seen(bucket.queue());
      if (seen == null) {
        queues.hint();
      } else if (bucket.index() < seen.lanes.size()) {
        seen.lanes.get(bucket.index()).bell.head(due);
      }
    }

    @Override
    public void gap() {
      queues.hint();
      for (QueueLanes queue : queues.all()) {
        queue.lanes.forEach(lane -> lane.bell.ask());
      }
    }
  }
}
