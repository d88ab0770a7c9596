package io.punctual.server.console;

import io.punctual.core.Engine;
import io.punctual.core.QueueStats;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.StoreException;
import io.punctual.server.config.WorkersSeen;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
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
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;

/**
 * All queues as they were a moment ago. They are looked at while somebody looks at the console, by
 * all viewers together, and for a tenth of the time at most, however many there are.
 */
@Component
class Board implements AutoCloseable {

  private static final long FRESH_NS = 2_000_000_000L;
  private static final int REST = 10;
  private static final int STALE = 3;

  /** In ms; over less, the growth of a counter is no rate. */
  private static final long SHORTEST_MS = 1_000;

  // A quarter of an hour, while somebody looks.
  private static final int SAMPLES = 450;
  // A chart has no place for more than the last bucket.
  private static final double MOST_MS = 3_600_000;

  private final Engine engine;
  private final WorkersSeen workers;
  private final RecentLateness lateness;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().daemon().name("punctual-console").factory());
  private final Deque<Sample> history = new ArrayDeque<>();
  private @Nullable CompletableFuture<Snapshot> next;
  // One that saw what somebody just did.
  private volatile @Nullable CompletableFuture<Snapshot> awaited;
  private volatile @Nullable Snapshot last;

  /** What rates are told against; of the thread. */
  private @Nullable Snapshot base;

  @Autowired
  Board(Engine engine, WorkersSeen workers, RecentLateness lateness) {
    this.lateness = lateness;
    this.engine = engine;
    this.workers = workers;
  }

  /**
   * A queue, and how fast its counters grew since it was looked at before.
   *
   * @param perSecond by counter; empty at the first look
   */
  record Row(QueueStats stats, Map<String, Double> perSecond, int workers, boolean circuitOpen) {

    public QueueName queue() {
      return stats.queue();
    }

    public double rate(String counter) {
      return perSecond.getOrDefault(counter, 0.0);
    }

    long count(String counter) {
      return stats.counters().getOrDefault(counter, 0L);
    }

    /** How long the oldest job that is due has waited, ms. */
    public long readyAge() {
      Long oldest = stats.oldestReady();
      return oldest == null ? 0 : Math.max(0, stats.now() - oldest);
    }

    public boolean damaged() {
      return stats.isDamaged();
    }

    public boolean paused() {
      return stats.pausedSince() != null;
    }

    /** What a viewer ought to know first. */
    public State state() {
      if (damaged()) {
        return State.DAMAGED;
      } else if (paused()) {
        return State.PAUSED;
      } else if (circuitOpen) {
        return State.FAILING;
      } else if (stats.parked()) {
        return State.PARKED;
      } else if (readyAge() > LATE_MS) {
        return State.LATE;
      }
      return State.WELL;
    }
  }

  /** From so long on a job that is due counts as late, for the eye. */
  static final long LATE_MS = 5_000;

  /** How a queue is. */
  enum State {
    WELL,
    LATE,
    PARKED,
    FAILING,
    PAUSED,
    DAMAGED
  }

  /**
   * All queues.
   *
   * @param lateness of the last minute, here; null where nothing began
   * @param now the store's time, epoch ms; 0 without queues
   * @param taken monotonic ns
   * @param took ns
   */
  record Snapshot(
      Map<QueueName, Row> rows,
      RecentLateness.@Nullable Quantiles lateness,
      long now,
      long taken,
      long took) {

    long sum(ToLongFunction<Row> of) {
      return rows.values().stream().mapToLong(of).sum();
    }

    public double rate(String counter) {
      return rows.values().stream().mapToDouble(row -> row.rate(counter)).sum();
    }

    Collection<Row> all() {
      return rows.values();
    }
  }

  /** What the charts show of a moment; rates in jobs a second, lateness in ms. */
  record Sample(
      long at,
      double submitted,
      double done,
      double failed,
      long ready,
      @Nullable Double p50,
      @Nullable Double p99) {}

  /** The queues, two seconds old as a rule; older where they are many. */
  Snapshot now() {
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
    CompletableFuture<Snapshot> look = look();
    // Who comes after a while waits for a fresh one; who looks on takes what there is meanwhile.
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

  /** Somebody did something: the next one to look shall see it. */
  synchronized void changed() {
    next = CompletableFuture.supplyAsync(this::take, thread);
    awaited = next;
  }

  /**
   * A queue as it is now, as fast as it was when all were looked at; empty if it is not known. Does
   * not wait for a look at all.
   */
  Optional<Row> now(QueueName queue) {
    Snapshot known = last;
    long age = known == null ? Long.MAX_VALUE : System.nanoTime() - known.taken();
    if (known == null || age >= fresh(known)) {
      var unused = look();
    }
    Row before = known == null || age > STALE * fresh(known) ? null : known.rows().get(queue);
    Map<String, Double> rates = before == null ? Map.of() : before.perSecond();
    return engine.stats(queue).map(stats -> row(stats, rates));
  }

  /** How late the jobs of a queue began. */
  RecentLateness.OfQueue lateness(QueueName queue) {
    return lateness.of(queue, System.nanoTime());
  }

  // Where looking takes long, it is done less often.
  private static long fresh(Snapshot known) {
    return Math.max(FRESH_NS, known.took() * REST);
  }

  /** What the chart shows, oldest first. */
  List<Sample> history() {
    synchronized (history) {
      return List.copyOf(history);
    }
  }

  private synchronized CompletableFuture<Snapshot> look() {
    if (next == null || next.isDone()) {
      next = CompletableFuture.supplyAsync(this::take, thread);
    }
    return next;
  }

  private Snapshot take() {
    long start = System.nanoTime();
    Snapshot known = last;
    Snapshot before = base;
    Map<QueueName, Row> rows = new TreeMap<>();
    for (QueueName queue : engine.queues().keySet()) {
      engine
          .stats(queue)
          .ifPresent(
              stats ->
                  rows.put(queue, row(stats, rates(stats, row(before, queue), row(known, queue)))));
    }
    long now = rows.values().stream().mapToLong(row -> row.stats().now()).max().orElse(0);
    long end = System.nanoTime();
    Snapshot taken = new Snapshot(rows, lateness.look(end), now, end, end - start);
    last = taken;
    if (before == null) {
      base = taken;
    } else if (now - before.now() >= SHORTEST_MS) {
      base = taken;
      remember(taken);
    }
    return taken;
  }

  private static @Nullable Row row(@Nullable Snapshot snapshot, QueueName queue) {
    return snapshot == null ? null : snapshot.rows().get(queue);
  }

  private void remember(Snapshot taken) {
    synchronized (history) {
      history.addLast(
          new Sample(
              taken.now(),
              taken.rate("submitted"),
              taken.rate("done"),
              taken.rate("failed") + taken.rate("rejected") + taken.rate("unknown"),
              taken.sum(row -> row.stats().ready()),
              taken.lateness() == null ? null : Math.min(MOST_MS, taken.lateness().p50()),
              taken.lateness() == null ? null : Math.min(MOST_MS, taken.lateness().p99())));
      while (history.size() > SAMPLES) {
        history.removeFirst();
      }
    }
  }

  private static Map<String, Double> rates(
      QueueStats stats, @Nullable Row before, @Nullable Row known) {
    if (before == null || before.damaged() || stats.isDamaged()) {
      return Map.of();
    }
    long ms = stats.now() - before.stats().now();
    if (ms < SHORTEST_MS) {
      return known == null ? Map.of() : known.perSecond();
    }
    Map<String, Double> rates = new TreeMap<>();
    stats
        .counters()
        .forEach(
            (name, count) ->
                rates.put(name, Math.max(0, count - before.count(name)) * 1_000.0 / ms));
    return rates;
  }

  private Row row(QueueStats stats, Map<String, Double> rates) {
    return new Row(
        stats, rates, workers.of(stats.queue()).size(), workers.isCircuitOpen(stats.queue()));
  }

  /** The applications that have queues, in order. */
  List<String> applications() {
    return new ArrayList<>(
        new java.util.TreeSet<>(
            engine.queues().keySet().stream().map(QueueName::application).toList()));
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
