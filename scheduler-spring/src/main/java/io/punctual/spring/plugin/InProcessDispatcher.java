package io.punctual.spring.plugin;

import io.punctual.JobAttempt;
import io.punctual.Limits;
import io.punctual.RejectTaskException;
import io.punctual.TaskWorker;
import io.punctual.core.Delivery;
import io.punctual.core.Dispatcher;
import io.punctual.core.RepeatCause;
import io.punctual.core.job.LogFields;
import io.punctual.core.job.QueueName;
import io.punctual.core.local.LocalLease;
import io.punctual.core.local.WorkerEnds;
import io.punctual.worker.AttemptObservations;
import io.punctual.worker.Invocation;
import io.punctual.worker.JobListeners;
import io.punctual.worker.OneLine;
import io.punctual.worker.RunningAttempt;
import io.punctual.worker.TimeLimit;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.task.AsyncTaskExecutor;

/**
 * Runs jobs in this process. Each task type has its own slots, so that a slow type holds no other
 * one up; a slot is free again only when the worker has really returned, also after its
 * time-to-run.
 */
final class InProcessDispatcher implements Dispatcher, AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(InProcessDispatcher.class);
  private static final int MAX_REASON = 1500;

  private final String application;
  private final String instance;
  private final PluginTasks tasks;
  private final JobListeners listeners;
  private final AttemptObservations observations;
  private final AsyncTaskExecutor threads;
  private final ScheduledThreadPoolExecutor timer;
  private final Map<QueueName, AtomicInteger> running = new ConcurrentHashMap<>();
  private final Set<TimeLimit> attempts = ConcurrentHashMap.newKeySet();
  private volatile Consumer<QueueName> capacityChanged = queue -> {};

  /**
   * @param instance who this is, shown with a job's last error
   * @param tasks asked for workers when the first job comes: workers may themselves submit jobs,
   *     and so need the engine before they are there
   * @param threads must start every task at once
   */
  InProcessDispatcher(
      String application,
      String instance,
      PluginTasks tasks,
      JobListeners listeners,
      AttemptObservations observations,
      AsyncTaskExecutor threads) {
    this.application = application;
    this.instance = instance;
    this.tasks = tasks;
    this.listeners = listeners;
    this.observations = observations;
    this.threads = threads;
    this.timer =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "punctual-time-to-run");
              thread.setDaemon(true);
              return thread;
            });
    this.timer.setRemoveOnCancelPolicy(true);
  }

  /** To be told when a slot has become free. */
  void onCapacity(Consumer<QueueName> listener) {
    capacityChanged = listener;
  }

  /** How many jobs of a task type run now. */
  int running(String taskType) {
    AtomicInteger slots = running.get(new QueueName(application, taskType));
    return slots == null ? 0 : slots.get();
  }

  /** Interrupts all workers that still run. */
  void interrupt() {
    attempts.forEach(TimeLimit::interrupt);
  }

  @Override
  public boolean serves(QueueName queue) {
    return queue.application().equalsIgnoreCase(application)
        && tasks.worker(queue.taskType()) != null;
  }

  @Override
  public int capacity(QueueName queue) {
    return serves(queue) ? Math.max(0, tasks.threads(queue.taskType()) - slots(queue).get()) : 0;
  }

  @Override
  public void dispatch(QueueName queue, List<Delivery> deliveries) {
    TaskWorker worker = tasks.worker(queue.taskType());
    for (Delivery delivery : deliveries) {
      if (worker == null) {
        var unused = delivery.undeliverable(instance, "no worker for " + queue.taskType(), null);
        continue;
      }
      slots(queue).incrementAndGet();
      try {
        threads.execute(() -> run(queue, worker, delivery));
      } catch (RuntimeException | Error e) {
        // The others run, or get their thread.
        free(queue);
        var unused = delivery.undeliverable(instance, "no thread to run it on: " + e, null);
      }
    }
  }

  private void run(QueueName queue, TaskWorker worker, Delivery delivery) {
    new Running(queue, delivery).call(worker);
  }

  /** An attempt from its call until its work has ended. */
  private final class Running implements Invocation.Listener {

    private final QueueName queue;
    private final Delivery delivery;
    private final Duration timeToRun;
    private final TimeLimit limit;
    private final AttemptObservations.Observed observed;
    private final long start;
    private final RunningAttempt context;
    private boolean elsewhere;

    Running(QueueName queue, Delivery delivery) {
      this.queue = queue;
      this.delivery = delivery;
      Duration allowed = delivery.content().timeToRun();
      timeToRun = allowed != null ? allowed : Limits.DEFAULT_TIME_TO_RUN;
      limit = new TimeLimit(timeToRun, () -> tookTooLong(delivery, timeToRun));
      attempts.add(limit);
      limit.watch(timer);
      // Elsewhere: whoever keeps the leases must not wait for what the application does then.
      delivery.onLost(() -> later(limit::lose));
      delivery.started();
      observed =
          observations.started(
              queue.taskType(),
              delivery.taskId(),
              delivery.attempt(),
              delivery.content().headers());
      start = System.nanoTime();
      context =
          new RunningAttempt(
              queue.taskType(),
              delivery.taskId(),
              delivery.incarnation(),
              delivery.attempt(),
              delivery.dueTime(),
              delivery.content().headers(),
              InstantSource.system(),
              limit,
              new LocalLease(delivery));
    }

    void call(TaskWorker worker) {
      Invocation.call(worker, delivery.content().params(), context, limit, threads, this);
    }

    @Override
    public void goesOn() {
      elsewhere = true;
      observed.leave();
    }

    @Override
    public void ended(@Nullable Throwable thrown) {
      attempts.remove(limit);
      if (elsewhere) {
        observed.enter();
      }
      Duration deferred = context.deferred();
      listeners.ended(
          queue.taskType(),
          delivery.taskId(),
          delivery.attempt(),
          delivery.dueTime(),
          start,
          thrown,
          deferred != null);
      logFailure(delivery, thrown);
      // Behind the line of the log, which belongs to the trace.
      observed.ended(thrown, deferred != null);
      // Counts even when the time was over: the work may be done.
      CompletableFuture<Void> ended = WorkerEnds.store(delivery, instance, thrown, deferred);
      free(queue);
      ended.exceptionally(
          e -> {
            log.warn("The end of job {} of {} was not stored: {}", delivery.taskId(), queue, e);
            return null;
          });
    }
  }

  private void later(Runnable task) {
    try {
      timer.execute(task);
    } catch (RejectedExecutionException e) {
      log.trace("closed: everything was stopped already", e);
    }
  }

  private static void logFailure(Delivery delivery, @Nullable Throwable thrown) {
    if (thrown instanceof RejectTaskException) {
      LogFields.of(log.atWarn(), delivery.queue(), delivery.taskId())
          .addKeyValue("punctual.attempt", delivery.attempt())
          .log(
              "Job {} of {} was rejected at attempt {} and becomes a dead letter. Correct its params"
                  + " or the worker, then requeue it. Reason: {}",
              delivery.taskId(),
              delivery.queue(),
              delivery.attempt(),
              OneLine.of(thrown.toString(), MAX_REASON));
    } else if (JobListeners.outcome(thrown, false) == JobAttempt.Outcome.FAILED) {
      // The stack is kept nowhere else.
      LogFields.of(log.atWarn(), delivery.queue(), delivery.taskId())
          .addKeyValue("punctual.attempt", delivery.attempt())
          .setCause(thrown)
          .log(
              "Job {} of {} failed, attempt {}",
              delivery.taskId(),
              delivery.queue(),
              delivery.attempt());
    }
  }

  private void tookTooLong(Delivery delivery, Duration timeToRun) {
    LogFields.of(log.atWarn(), delivery.queue(), delivery.taskId())
        .addKeyValue("punctual.attempt", delivery.attempt())
        .log(
            "Job {} of {} is interrupted, attempt {}: its time-to-run of {} is over",
            delivery.taskId(),
            delivery.queue(),
            delivery.attempt(),
            timeToRun);
    var unused =
        delivery.unknown(
            instance,
            "it ran longer than its time-to-run of " + timeToRun,
            true,
            RepeatCause.TIME_OVER);
  }

  private void free(QueueName queue) {
    slots(queue).decrementAndGet();
    capacityChanged.accept(queue);
  }

  private AtomicInteger slots(QueueName queue) {
    return running.computeIfAbsent(queue, name -> new AtomicInteger());
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
