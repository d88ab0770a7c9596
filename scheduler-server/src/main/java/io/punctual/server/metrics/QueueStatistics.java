package io.punctual.server.metrics;

import io.punctual.core.Engine;
import io.punctual.core.QueueStamps;
import io.punctual.core.QueueStats;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.StoreException;
import io.punctual.server.dispatch.HttpDispatcher;
import io.punctual.server.registry.ServedTypes;
import io.punctual.server.registry.WorkerDirectory;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Looks at queues and keeps a minute of what it saw, for gauges, API, console and health checks.
 *
 * <p>A queue that rests is not looked at again while its stamp in the store is the same, see {@link
 * QueueHistory#rests(long)}. The others are looked at for each snapshot that a viewer of the
 * console asks for, for a tenth of the time at most.
 */
@Component
public class QueueStatistics implements AutoCloseable {

  private static final long FRESH_NS = 2_000_000_000L;
  // Less is no time for a rate.
  private static final long APART_NS = TimeUnit.MILLISECONDS.toNanos(QueueHistory.APART_MS);
  private static final int REST = 10;
  // If a look takes less than 0.3 s, this is less than the six seconds of a page that rests.
  private static final int STALE = 2;
  private static final int MAX_QUEUES = 100_000;
  // How many queues' stamps are read at once: less than half a millisecond of the store.
  private static final int AT_ONCE = 100;
  // The stamps of N queues are read again once they are N times as old.
  private static final long STAMP_NS = 3_000_000;

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
  private final AtomicLong storeNow = new AtomicLong();
  private final AtomicLong looks = new AtomicLong();
  // Of all queues, as the directory had them; on the thread that takes snapshots.
  private Set<QueueName> names = Set.of();
  private List<QueueHistory> named = List.of();

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
   * @param queues in order of their names; where no queue changed, the map of the snapshot before
   * @param derived what was computed from the queues
   * @param lateness of the last minute, here; null where nothing began
   * @param now the store's time, epoch ms; 0 without queues
   * @param taken monotonic ns
   * @param took ns
   */
  public record Snapshot(
      Map<QueueName, QueueSample> queues,
      Derived derived,
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

    /**
     * Returns what follows from the queues alone, computed once for all viewers.
     *
     * @param what names it, and its type
     */
    public <T> T once(Object what, Function<Snapshot, T> compute) {
      return derived.get(what, () -> compute.apply(this));
    }

    /** Returns a number that changes whenever a queue was looked at anew. */
    public long version() {
      return derived.version;
    }
  }

  /** What is computed from the queues. Snapshots share it until a queue is looked at anew. */
  public static final class Derived {

    private static final AtomicLong VERSIONS = new AtomicLong();

    private final long version = VERSIONS.incrementAndGet();
    private final Map<Object, Object> known = new ConcurrentHashMap<>();

    // Each caller has its own key, so the type of the value is known.
    @SuppressWarnings("unchecked")
    private <T> T get(Object what, Supplier<T> compute) {
      Object found = known.get(what);
      if (found == null) {
        found = compute.get();
        known.put(what, found);
      }
      return (T) found;
    }
  }

  /** Looks at a queue now; empty if it is not known. */
  public Optional<QueueSample> look(QueueName queue) {
    return look(queue, null);
  }

  private Optional<QueueSample> look(QueueName queue, @Nullable String stamp) {
    long askedAt = System.nanoTime();
    return engine.stats(queue).map(stats -> sample(stats, askedAt, stamp));
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

  private QueueSample sample(QueueStats stats, long askedAt, @Nullable String stamp) {
    QueueName queue = stats.queue();
    // 0 if no bucket could be read.
    if (stats.now() > 0) {
      storeNow.set(stats.now());
    }
    looks.incrementAndGet();
    return history(queue)
        .add(
            stats,
            askedAt,
            instances(queue),
            isCircuitOpen(queue),
            served.isPulled(queue),
            errors.of(queue),
            stamp);
  }

  private QueueHistory history(QueueName queue) {
    synchronized (histories) {
      return histories.computeIfAbsent(queue, name -> new QueueHistory());
    }
  }

  private int instances(QueueName queue) {
    return workers.instances(queue.application(), queue.taskType()).size();
  }

  /**
   * Looks at those queues that do not rest, and at those that have changed in the store.
   *
   * @param ageNs a queue that rests is not compared again within that time
   * @return how many were looked at
   */
  int update(Collection<QueueName> queues, long ageNs) {
    return update(queues, queues.stream().map(this::history).toList(), ageNs);
  }

  private int update(Collection<QueueName> queues, List<QueueHistory> of, long ageNs) {
    long before = looks.get();
    long now = System.nanoTime();
    long lookNs = Math.min(ageNs, APART_NS);
    List<QueueName> compared = new ArrayList<>();
    int i = 0;
    for (QueueName queue : queues) {
      switch (of.get(i++).due(now, ageNs, lookNs)) {
        case NOTHING -> {}
        case COMPARE -> compared.add(queue);
        case LOOK -> {
          var unused = look(queue);
        }
      }
    }
    for (int from = 0; from < compared.size(); from += AT_ONCE) {
      compare(compared.subList(from, Math.min(compared.size(), from + AT_ONCE)));
    }
    return (int) (looks.get() - before);
  }

  private void compare(List<QueueName> queues) {
    long askedAt = System.nanoTime();
    QueueStamps stamps = engine.stamps(queues);
    if (stamps.now() > 0) {
      storeNow.set(stamps.now());
    }
    stamps
        .of()
        .forEach(
            (queue, stamp) -> {
              if (history(queue)
                  .hasChanged(
                      stamps.now(),
                      askedAt,
                      stamp,
                      instances(queue),
                      isCircuitOpen(queue),
                      served.isPulled(queue),
                      errors.of(queue))) {
                var unused = look(queue, stamp);
              }
            });
  }

  /**
   * Returns all queues, normally at most two seconds old. With many queues, a change to a queue
   * that rests shows later: after 3 ms for each queue.
   */
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
    next = CompletableFuture.supplyAsync(() -> take(0), thread);
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
      next = CompletableFuture.supplyAsync(() -> take(STAMP_NS), thread);
    }
    return next;
  }

  private Snapshot take(long stampNs) {
    long start = System.nanoTime();
    Set<QueueName> queues = engine.queues().keySet();
    // The same map as before unless there are more.
    if (queues != names && !queues.equals(names)) {
      named = queues.stream().map(this::history).toList();
      names = queues;
    }
    var unused =
        update(queues, named, stampNs == 0 ? 0 : Math.max(FRESH_NS, stampNs * queues.size()));
    Snapshot taken = snapshot(named, last, start);
    last = taken;
    return taken;
  }

  /**
   * Returns what the last looks at queues showed.
   *
   * @param queues in order of their names
   * @param before the snapshot before, or null
   * @param began when this one began, monotonic ns
   */
  Snapshot snapshot(Collection<QueueName> queues, @Nullable Snapshot before, long began) {
    return snapshot(queues.stream().map(this::history).toList(), before, began);
  }

  private Snapshot snapshot(List<QueueHistory> of, @Nullable Snapshot before, long began) {
    List<QueueSample> samples = new ArrayList<>(of.size());
    for (QueueHistory history : of) {
      QueueSample sample = history.latest();
      if (sample != null) {
        samples.add(sample);
      }
    }
    Map<QueueName, QueueSample> map;
    Derived derived;
    if (before != null && isSame(before.all(), samples)) {
      map = before.queues();
      derived = before.derived();
    } else {
      map = new TreeMap<>();
      samples.forEach(sample -> map.put(sample.queue(), sample));
      derived = new Derived();
    }
    long end = System.nanoTime();
    return new Snapshot(
        map, derived, lateness.look(end), samples.isEmpty() ? 0 : storeNow.get(), end, end - began);
  }

  // A look makes another sample.
  @SuppressWarnings("ReferenceEquality")
  private static boolean isSame(Collection<QueueSample> before, List<QueueSample> now) {
    if (before.size() != now.size()) {
      return false;
    }
    int i = 0;
    for (QueueSample sample : before) {
      if (sample != now.get(i)) {
        return false;
      }
      i++;
    }
    return true;
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
