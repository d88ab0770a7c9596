package io.punctual.server.metrics;

import io.punctual.core.Engine;
import io.punctual.core.QueueStats;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.StoreException;
import io.punctual.server.dispatch.HttpDispatcher;
import io.punctual.server.registry.ServedTypes;
import io.punctual.server.registry.WorkerDirectory;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Looks at queues and keeps a minute of what it saw, whoever asked: gauges, API, console or the
 * health checks. For viewers of the console all queues are looked at together, for a tenth of the
 * time at most, however many there are.
 */
@Component
public class QueueStatistics implements AutoCloseable {

  private static final long FRESH_NS = 2_000_000_000L;
  private static final int REST = 10;
  private static final int STALE = 3;
  private static final int MAX_QUEUES = 100_000;

  private final Engine engine;
  private final HttpDispatcher dispatcher;
  private final WorkerDirectory workers;
  private final ServedTypes served;
  private final RecentLateness lateness;
  private final RecentErrors errors;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().daemon().name("queue-statistics").factory());
  private final Map<QueueName, QueueHistory> histories =
      new LinkedHashMap<>(16, 0.75f, /* accessOrder= */ true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<QueueName, QueueHistory> eldest) {
          return size() > MAX_QUEUES;
        }
      };
  private @Nullable CompletableFuture<Snapshot> next;
  // One that sees what an operator just did.
  private volatile @Nullable CompletableFuture<Snapshot> awaited;
  private volatile @Nullable Snapshot last;

  QueueStatistics(
      Engine engine,
      HttpDispatcher dispatcher,
      WorkerDirectory workers,
      ServedTypes served,
      RecentLateness lateness,
      RecentErrors errors) {
    this.engine = engine;
    this.dispatcher = dispatcher;
    this.workers = workers;
    this.served = served;
    this.lateness = lateness;
    this.errors = errors;
  }

  /**
   * All queues.
   *
   * @param lateness of the last minute, here; null where nothing began
   * @param now the store's time, epoch ms; 0 without queues
   * @param taken monotonic ns
   * @param took ns
   */
  public record Snapshot(
      Map<QueueName, QueueSample> queues,
      RecentLateness.@Nullable Quantiles lateness,
      long now,
      long taken,
      long took) {

    /** Returns the sum of a figure over all queues. */
    public long sum(ToLongFunction<QueueSample> of) {
      return queues.values().stream().mapToLong(of).sum();
    }

    /** Returns the sum of a rate over all queues. */
    public double rate(String counter) {
      return queues.values().stream().mapToDouble(queue -> queue.rate(counter)).sum();
    }

    /** Returns the queues in order of their names. */
    public Collection<QueueSample> all() {
      return queues.values();
    }
  }

  /** Looks at a queue now; empty if it is not known. */
  public Optional<QueueSample> look(QueueName queue) {
    return engine.stats(queue).map(this::sample);
  }

  /** Returns what the last look at a queue showed; empty if there was none. */
  public Optional<QueueSample> last(QueueName queue) {
    synchronized (histories) {
      QueueHistory history = histories.get(queue);
      return history == null ? Optional.empty() : Optional.ofNullable(history.last());
    }
  }

  /** Returns whether the queue's jobs wait since all that this scheduler sent failed. */
  public boolean isCircuitOpen(QueueName queue) {
    return dispatcher.isCircuitOpen(queue);
  }

  private QueueSample sample(QueueStats stats) {
    QueueName queue = stats.queue();
    QueueHistory history;
    synchronized (histories) {
      history = histories.computeIfAbsent(queue, name -> new QueueHistory());
    }
    return history.add(
        stats,
        workers.instances(queue.application(), queue.taskType()).size(),
        isCircuitOpen(queue),
        served.isPulled(queue),
        errors.of(queue));
  }

  /** Returns all queues, two seconds old as a rule; older where they are many. */
  public Snapshot all() {
    CompletableFuture<Snapshot> changed = awaited;
    if (changed != null) {
      awaited = null;
      return joined(changed, last);
    }
    Snapshot known = last;
    long age = known == null ? Long.MAX_VALUE : System.nanoTime() - known.taken();
    if (known != null && age < fresh(known)) {
      return known;
    }
    CompletableFuture<Snapshot> look = lookAtAll();
    // The first viewer after a while waits for a fresh one; others take what there is meanwhile.
    return known == null || age > STALE * fresh(known) ? joined(look, known) : known;
  }

  // While Redis is away, what was known is better than nothing; the overview says so.
  private static Snapshot joined(CompletableFuture<Snapshot> look, @Nullable Snapshot known) {
    try {
      return look.join();
    } catch (CompletionException e) {
      if (known != null && e.getCause() instanceof StoreException) {
        return known;
      }
      throw e;
    }
  }

  /** An operator did something: the next viewer is shown its effect. */
  public synchronized void changed() {
    next = CompletableFuture.supplyAsync(this::take, thread);
    awaited = next;
  }

  /** Returns how late the jobs of a queue began. */
  public RecentLateness.OfQueue lateness(QueueName queue) {
    Snapshot known = last;
    if (known == null || System.nanoTime() - known.taken() >= fresh(known)) {
      var unused = lookAtAll();
    }
    return lateness.of(queue, System.nanoTime());
  }

  // Where looking takes long, it is done less often.
  private static long fresh(Snapshot known) {
    return Math.max(FRESH_NS, known.took() * REST);
  }

  private synchronized CompletableFuture<Snapshot> lookAtAll() {
    if (next == null || next.isDone()) {
      next = CompletableFuture.supplyAsync(this::take, thread);
    }
    return next;
  }

  private Snapshot take() {
    long start = System.nanoTime();
    Map<QueueName, QueueSample> queues = new TreeMap<>();
    for (QueueName queue : engine.queues().keySet()) {
      look(queue).ifPresent(sample -> queues.put(queue, sample));
    }
    Snapshot taken = snapshot(queues, start);
    last = taken;
    return taken;
  }

  /**
   * Looks at queues end now.
   *
   * @param began when they began, monotonic ns
   */
  Snapshot snapshot(Map<QueueName, QueueSample> queues, long began) {
    long now = queues.values().stream().mapToLong(queue -> queue.stats().now()).max().orElse(0);
    long end = System.nanoTime();
    return new Snapshot(queues, lateness.look(end), now, end, end - began);
  }

  /** Returns the applications that have queues, in order. */
  public List<String> applications() {
    return engine.queues().keySet().stream()
        .map(QueueName::application)
        .distinct()
        .sorted()
        .toList();
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
