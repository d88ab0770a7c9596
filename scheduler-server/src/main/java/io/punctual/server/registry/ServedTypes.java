package io.punctual.server.registry;

import io.punctual.core.job.QueueName;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;

/** Tells queues that nobody serves, as far as this scheduler knows, and which may be meant. */
@Component
public class ServedTypes {

  /** A submit has no hint for so long after a worker asked here: some fetch now and then. */
  private static final Duration FETCHED = Duration.ofMinutes(10);

  /**
   * A queue counts as pulled for so long after a worker asked here: a pull waits for a minute at
   * most, and one that is at work asks again soon.
   */
  private static final Duration PULLED = Duration.ofMinutes(2);

  /** Names are compared with all others at most once in this time. */
  private static final Duration KEPT = Duration.ofSeconds(10);

  private static final int MAX_QUEUES = 10_000;

  private final WorkerDirectory workers;
  private final RegistryContact registry;
  private final LongSupplier ticks;
  // Guarded by this: monotonic ns of the last fetch, and what was found out lately.
  private final Map<QueueName, Long> fetched = bounded();
  private final Map<QueueName, Hint> hints = bounded();

  private record Hint(String own, String all, long at) {}

  @Autowired
  ServedTypes(WorkerDirectory workers, RegistryContact registry) {
    this(workers, registry, System::nanoTime);
  }

  ServedTypes(WorkerDirectory workers, RegistryContact registry, LongSupplier ticks) {
    this.workers = workers;
    this.registry = registry;
    this.ticks = ticks;
  }

  private static <V> Map<QueueName, V> bounded() {
    return new LinkedHashMap<>(16, 0.75f, /* accessOrder= */ true) {
      @Override
      protected boolean removeEldestEntry(Map.Entry<QueueName, V> eldest) {
        return size() > MAX_QUEUES;
      }
    };
  }

  /** The ids in the registry of the instances that get jobs of a queue. */
  public List<String> instances(QueueName queue) {
    return workers.instances(queue.application(), queue.taskType()).stream()
        .map(WorkerInstance::id)
        .toList();
  }

  /** Notes that a worker fetches jobs of these queues. */
  public synchronized void pulled(List<QueueName> queues) {
    queues.forEach(queue -> fetched.put(queue, ticks.getAsLong()));
  }

  /**
   * Says that nobody serves a queue.
   *
   * @param others whether names of other applications may be told
   * @return null if somebody does, or that is not known
   */
  public @Nullable String unserved(QueueName queue, boolean others) {
    boolean blind = registry.isUsed() && registry.age() == null;
    if (blind
        || !workers.instances(queue.application(), queue.taskType()).isEmpty()
        || askedWithin(queue, FETCHED)) {
      return null;
    }
    Hint hint = hint(queue);
    return others ? hint.all() : hint.own();
  }

  /** Returns whether workers pull the queue's jobs at this scheduler. */
  public boolean isPulled(QueueName queue) {
    return askedWithin(queue, PULLED);
  }

  private synchronized boolean askedWithin(QueueName queue, Duration time) {
    Long at = fetched.get(queue);
    return at != null && ticks.getAsLong() - at < time.toNanos();
  }

  private Hint hint(QueueName queue) {
    long now = ticks.getAsLong();
    synchronized (this) {
      Hint known = hints.get(queue);
      if (known != null && now - known.at() < KEPT.toNanos()) {
        return known;
      }
    }
    Hint hint = find(queue, now);
    synchronized (this) {
      hints.put(queue, hint);
    }
    return hint;
  }

  private Hint find(QueueName queue, long now) {
    List<WorkerInstance> own = workers.instances(queue.application());
    if (!own.isEmpty()) {
      Set<String> types =
          own.stream()
              .flatMap(instance -> instance.metadata().taskTypes().stream())
              .collect(Collectors.toCollection(TreeSet::new));
      String text = "no instance of " + queue.application() + " runs " + queue.taskType();
      String near = NearestName.of(queue.taskType(), types);
      String both = near == null ? text : text + "; " + near + " is run";
      return new Hint(both, both, now);
    }
    String text = "no instance in the registry is called " + queue.application();
    Collection<String> applications =
        workers.all().stream()
            .map(WorkerInstance::application)
            .collect(Collectors.toCollection(TreeSet::new));
    String near = NearestName.of(queue.application(), applications);
    return new Hint(text, near == null ? text : text + "; " + near + " is", now);
  }
}
