package io.punctual.spring.plugin;

import io.punctual.client.run.JobRunner;
import io.punctual.core.Delivery;
import io.punctual.core.Dispatcher;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.QueueName;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import io.punctual.wire.Limits;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands the engine's deliveries to the attempt loop in this process. A slot is free again only when
 * the worker has returned, also after its time-to-run.
 */
final class InProcessDispatcher implements Dispatcher, AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(InProcessDispatcher.class);

  private final String application;
  private final String instance;
  private final PluginTasks tasks;
  private final int concurrency;
  private final Supplier<JobRunner> maker;
  private final Map<String, AtomicInteger> running = new ConcurrentHashMap<>();
  private final AtomicInteger total = new AtomicInteger();
  private volatile Consumer<QueueName> capacityChanged = queue -> {};
  private @Nullable JobRunner runner;

  /**
   * @param instance who this is, shown with a job's last error
   * @param concurrency jobs that run at once, of all types together
   * @param maker called when the first job comes: workers may themselves submit jobs, and so need
   *     the engine before they are there
   */
  InProcessDispatcher(
      String application,
      String instance,
      PluginTasks tasks,
      int concurrency,
      Supplier<JobRunner> maker) {
    this.application = application;
    this.instance = instance;
    this.tasks = tasks;
    this.concurrency = concurrency;
    this.maker = maker;
  }

  /** To be told when a slot has become free. */
  void onCapacity(Consumer<QueueName> listener) {
    capacityChanged = listener;
  }

  /** How many jobs of a task type run now. */
  int running(String taskType) {
    AtomicInteger slots = running.get(taskType);
    return slots == null ? 0 : slots.get();
  }

  /** Interrupts all workers that still run. */
  synchronized void interrupt() {
    if (runner != null) {
      runner.interrupt();
    }
  }

  private synchronized JobRunner runner() {
    if (runner == null) {
      runner = maker.get();
    }
    return runner;
  }

  @Override
  public boolean serves(QueueName queue) {
    return queue.application().equalsIgnoreCase(application)
        && tasks.worker(queue.taskType()) != null;
  }

  @Override
  public boolean servesAll() {
    return false;
  }

  @Override
  public int capacity(QueueName queue) {
    int free = tasks.threads(queue.taskType()) - running(queue.taskType());
    return serves(queue) ? Math.max(0, free) : 0;
  }

  @Override
  public int capacity() {
    return Math.max(0, concurrency - total.get());
  }

  @Override
  public void dispatch(QueueName queue, List<Delivery> deliveries) {
    for (Delivery delivery : deliveries) {
      running.computeIfAbsent(queue.taskType(), type -> new AtomicInteger()).incrementAndGet();
      total.incrementAndGet();
      try {
        delivery.started();
        var unused =
            runner()
                .run(job(delivery), new DeliveryLease(delivery, instance))
                .thenAccept(result -> ended(delivery, result));
      } catch (RuntimeException | Error e) {
        log.error("Job {} of {} could not be started", delivery.taskId(), delivery.queue(), e);
        free(delivery.queue());
        var unused = delivery.undeliverable(new ErrorNote(instance, String.valueOf(e)), null);
      }
    }
  }

  private static CallbackRequest.Job job(Delivery delivery) {
    Duration given = delivery.content().timeToRun();
    return new CallbackRequest.Job(
        delivery.taskId(),
        delivery.queue().taskType(),
        delivery.incarnation(),
        delivery.attempt(),
        delivery.version(),
        delivery.claimedAt(),
        delivery.dueTime(),
        delivery.lateSince(),
        (given == null ? Limits.DEFAULT_TIME_TO_RUN : given).toMillis(),
        delivery.content().params(),
        delivery.content().headers(),
        /* token= */ null);
  }

  // Counts even when the time was over: the work may be done.
  private void ended(Delivery delivery, CallbackResult result) {
    CompletableFuture<Void> stored = store(delivery, result);
    free(delivery.queue());
    stored.exceptionally(
        e -> {
          log.warn(
              "The end of job {} of {} was not stored: {}",
              delivery.taskId(),
              delivery.queue(),
              String.valueOf(e));
          return null;
        });
  }

  private CompletableFuture<Void> store(Delivery delivery, CallbackResult result) {
    ErrorNote note = new ErrorNote(instance, String.valueOf(result.error()));
    return switch (result.outcome()) {
      case CallbackResult.DONE -> delivery.done(instance);
      case CallbackResult.DEFERRED -> delivery.deferred(millis(result.timeToRunMs()));
      case CallbackResult.REJECT -> delivery.rejected(note);
      case CallbackResult.RETRY ->
          delivery.failed(
              note, result.retryAfterMs() == null ? null : millis(result.retryAfterMs()));
      default -> delivery.undeliverable(note, null);
    };
  }

  private static Duration millis(@Nullable Long millis) {
    return Duration.ofMillis(millis == null ? 0 : millis);
  }

  private void free(QueueName queue) {
    AtomicInteger slots = running.get(queue.taskType());
    if (slots != null) {
      slots.decrementAndGet();
    }
    if (total.getAndDecrement() < concurrency) {
      capacityChanged.accept(queue);
    } else {
      // All types may have waited for it.
      tasks.types().forEach(type -> capacityChanged.accept(new QueueName(application, type)));
    }
  }

  @Override
  public synchronized void close() {
    if (runner != null) {
      runner.close();
    }
  }
}
