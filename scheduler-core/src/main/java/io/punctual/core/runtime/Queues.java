package io.punctual.core.runtime;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.Pause;
import io.punctual.core.job.QueueName;
import io.punctual.core.recovery.Outages;
import io.punctual.core.store.QueueDirectory;
import io.punctual.core.store.StoreException;
import io.punctual.core.wake.WakeSignal;
import io.punctual.core.work.Backoff;
import io.punctual.core.work.Context;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All queues that this engine has seen: submitted here, or found in the store's directory, which is
 * read again every few seconds and whenever somebody hints at a queue that is not known.
 */
final class Queues {

  private static final Logger log = LoggerFactory.getLogger(Queues.class);

  private static final Duration REFRESH = Duration.ofSeconds(2);
  private static final Duration FULL_READ = Duration.ofMinutes(1);

  // The directory of ten thousand queues is half a megabyte: spend at most a twentieth on reading.
  private static final int SHARE = 20;

  private static final String DUTY = "Reading the directory of queues";

  private static final String PAUSES = "Reading the pauses of applications";

  private final QueueDirectory directory;
  private final Shared shared;
  private final Context context;
  private final Map<QueueName, QueueWorkers> known = new ConcurrentHashMap<>();
  // Of those that are known; made again once there are more.
  private volatile SortedMap<QueueName, Integer> names = new TreeMap<>();
  private final Set<QueueWorkers> unscanned = ConcurrentHashMap.newKeySet();
  private final WakeSignal signal = new WakeSignal();
  private final Backoff backoff = Backoff.ofStore();
  private volatile boolean scanning;
  private final Registrations registrations;
  private long lastRead = Long.MIN_VALUE / 2;
  private long nextCount = Long.MIN_VALUE;
  private volatile boolean stopping;
  private @Nullable Thread reader;

  Queues(QueueDirectory directory, Shared shared) {
    this.directory = directory;
    this.shared = shared;
    this.context = shared.context();
    this.registrations = new Registrations(this::register, context.threads());
  }

  /** Starts the scanners of what is known and what will be. */
  synchronized void start() {
    if (reader == null && !stopping) {
      scanning = true;
      reader = context.threads().start("punctual-directory", this::read);
    }
  }

  /** Starts no more scanners, and tells those that run to claim no more. */
  void stop() {
    stopping = true;
    scanning = false;
    signal.ask();
    known.values().forEach(queue -> queue.workers.forEach(worker -> worker.loop.stop()));
  }

  Collection<QueueWorkers> all() {
    return known.values();
  }

  /** The queue if it has been seen; never asks the store. */
  @Nullable QueueWorkers seen(QueueName queue) {
    return known.get(queue);
  }

  /** The queue if it exists. May ask the store. */
  Optional<QueueWorkers> find(QueueName queue) {
    QueueWorkers seen = known.get(queue);
    if (seen != null) {
      return Optional.of(seen);
    }
    var buckets = directory.buckets(queue);
    return buckets.isPresent() ? Optional.of(obeying(queue, buckets.getAsInt())) : Optional.empty();
  }

  /** The queue, made if it does not exist. Asks the store. */
  QueueWorkers register(QueueName queue) {
    int max = context.options().maxQueues();
    OptionalInt buckets =
        isFull(queue, max)
            ? directory.buckets(queue)
            : directory.register(queue, context.options().buckets(), max);
    if (buckets.isEmpty()) {
      throw new StoreException(
          StoreException.Kind.EXCESSIVE,
          "is new, and "
              + queue.application()
              + " has "
              + max
              + " of them, which is the most: take one that is there, and tell jobs apart by their"
              + " ids or tags");
    }
    return obeying(queue, buckets.getAsInt());
  }

  // What is known is the directory as it was read a moment ago, and what was made here since.
  private boolean isFull(QueueName queue, int max) {
    return known.size() >= max
        && !known.containsKey(queue)
        && known.keySet().stream()
                .filter(name -> name.application().equals(queue.application()))
                .count()
            >= max;
  }

  /** As {@link #register}, without blocking. */
  CompletableFuture<QueueWorkers> registered(QueueName queue) {
    return registrations.add(queue);
  }

  /** Whether a submit must go behind others that wait for the queue to be registered. */
  boolean isRegistering(QueueName queue) {
    return registrations.isOpen(queue);
  }

  /** All queues of the store, in order of their names. Asks the store. */
  Map<QueueName, Integer> directory() {
    SortedMap<QueueName, Integer> here = names;
    if (here.size() != known.size()) {
      here = new TreeMap<>();
      for (QueueWorkers queue : known.values()) {
        here.put(queue.queue, queue.workers.size());
      }
      here = Collections.unmodifiableSortedMap(here);
      names = here;
    }
    return directory.count() == here.size() ? here : directory.all();
  }

  /** Makes the scanner of a bucket look at it, if the bucket is known. */
  void ask(Bucket bucket) {
    QueueWorkers seen = known.get(bucket.queue());
    if (seen != null && bucket.index() < seen.workers.size()) {
      seen.workers.get(bucket.index()).signal.ask();
    }
  }

  /** Somebody spoke of a queue that is not known. */
  void hint() {
    signal.ask();
  }

  /** Makes every scanner look at once, whatever its back-off, and the directory be read. */
  void wakeAll() {
    hint();
    for (QueueWorkers queue : known.values()) {
      queue.workers.forEach(worker -> worker.signal.ask());
    }
  }

  /** The queues that are served here; null for all. */
  @Nullable Set<QueueName> served() {
    if (shared.scan().dispatcher().servesAll()) {
      return null;
    }
    return known.values().stream()
        .filter(QueueWorkers::isScanned)
        .map(workers -> workers.queue)
        .collect(Collectors.toUnmodifiableSet());
  }

  /** Makes scanners look at what is theirs from now on. */
  void membersChanged() {
    known
        .values()
        .forEach(queue -> queue.workers.forEach(worker -> worker.scanner.membersChanged()));
  }

  /** A pull waits for jobs of a queue. */
  void pulled(QueueName queue) {
    QueueWorkers seen = known.get(queue);
    if (seen != null) {
      seen.workers.forEach(worker -> worker.signal.pull());
    }
  }

  /** Adopts a queue. If it is new here, it keeps a pause of its application before jobs come. */
  private QueueWorkers obeying(QueueName queue, int buckets) {
    if (!known.containsKey(queue)) {
      obey(queue, buckets, pauses());
    }
    return adopt(queue, buckets);
  }

  // Where they cannot be read, all queues go on with what their buckets know.
  private QueueDirectory.Pauses pauses() {
    try {
      QueueDirectory.Pauses pauses = directory.pauses();
      context.defects().worked(PAUSES);
      return pauses;
    } catch (StoreException e) {
      if (!Outages.isDamage(e)) {
        throw e;
      }
      context.defects().met(PAUSES, e);
      return new QueueDirectory.Pauses(0, Map.of());
    }
  }

  // One whose node is away must not hold up the others. It is found again in the next turn.
  private void adoptObeying(QueueName queue, int buckets, QueueDirectory.Pauses pauses) {
    try {
      obey(queue, buckets, pauses);
      var unused = adopt(queue, buckets);
    } catch (StoreException e) {
      log.debug("{} waits for its application's pause", queue, e);
    }
  }

  // Reads the pause again behind each write: it may have been changed or ended meanwhile, by a call
  // that did not know the queue yet, or was done with it.
  private void obey(QueueName queue, int buckets, QueueDirectory.Pauses pauses) {
    Pause written = null;
    Pause wanted = pauses.of().get(queue.application());
    while (!Objects.equals(written, wanted)) {
      Pause.Terms terms = wanted == null ? null : wanted.rest(pauses.now());
      for (int i = 0; i < buckets; i++) {
        pause(new Bucket(queue, i), terms);
      }
      written = wanted;
      pauses = pauses();
      wanted = pauses.of().get(queue.application());
    }
  }

  private void pause(Bucket bucket, Pause.@Nullable Terms terms) {
    try {
      var unused = context.jobs().pause(bucket, Pause.Scope.APPLICATION, terms);
    } catch (StoreException e) {
      if (!Outages.isDamage(e)) {
        throw e;
      }
      // Nothing is claimed of it either.
    }
  }

  private QueueWorkers adopt(QueueName queue, int buckets) {
    QueueWorkers workers =
        known.computeIfAbsent(
            queue,
            name -> {
              QueueWorkers made = new QueueWorkers(name, buckets, shared);
              unscanned.add(made);
              return made;
            });
    if (scanning && unscanned.contains(workers) && workers.scan()) {
      unscanned.remove(workers);
    }
    return workers;
  }

  private void read() {
    while (!stopping) {
      signal.sleep(refresh(signal.take().asked()));
    }
  }

  private long refresh(boolean asked) {
    long sent = context.now();
    long every = Math.min(REFRESH.toNanos(), context.options().lease().toNanos() / 4);
    try {
      if (asked || sent >= nextCount) {
        count(sent);
        // A new queue is announced, so that this is for lost hints: engines share the effort.
        nextCount =
            sent
                + Math.max(
                    every * shared.scan().owners().members(), SHARE * (context.now() - sent));
      }
      // Known before the start, or served by the dispatcher only by now.
      unscanned.removeIf(QueueWorkers::scan);
    } catch (StoreException e) {
      return backoff.next(ThreadLocalRandom.current());
    } catch (RuntimeException | Error e) {
      context.defects().met(DUTY, e);
      return backoff.next(ThreadLocalRandom.current());
    }
    context.defects().worked(DUTY);
    backoff.reset();
    return every;
  }

  // Queues are never renamed: while their number is the same, hardly ever is there a new one.
  private void count(long now) {
    if (directory.count() != known.size() || now - lastRead > FULL_READ.toNanos()) {
      readAll();
      lastRead = now;
    }
  }

  private void readAll() {
    Map<QueueName, Integer> all = directory.all();
    if (!known.keySet().containsAll(all.keySet())) {
      // Behind the directory: what began before a pause is paused by the call itself.
      QueueDirectory.Pauses pauses = pauses();
      Map<QueueName, Integer> paused = new HashMap<>();
      all.forEach(
          (queue, buckets) -> {
            if (!known.containsKey(queue) && pauses.of().containsKey(queue.application())) {
              paused.put(queue, buckets);
            } else {
              var unused = adopt(queue, buckets);
            }
          });
      paused.forEach((queue, buckets) -> adoptObeying(queue, buckets, pauses));
    } else {
      all.forEach(this::adopt);
    }
    for (QueueName queue : known.keySet()) {
      if (!all.containsKey(queue)) {
        // Submitted a moment ago, or forgotten by a fail-over: its jobs must be found again.
        directory.register(queue, known.get(queue).workers.size());
      }
    }
  }
}
