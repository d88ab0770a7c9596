package io.punctual.server.registry;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.punctual.core.job.QueueName;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;

/** Finds queues that no worker serves, as far as this scheduler knows, and similar names. */
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

  /** Of a queue; a worker that does not name itself has its address. */
  private static final int MAX_PULLERS = 100;

  private final WorkerDirectory workers;
  private final RegistryContact registry;
  private final LongSupplier ticks;
  // Monotonic ns of the last fetch.
  private final Cache<QueueName, Long> fetched;
  private final Cache<QueueName, Hint> hints;
  private final Cache<QueueName, Map<String, Puller>> pullers;

  private record Hint(String own, String all, @Nullable Meant meant) {}

  /**
   * The known name that is nearest to one that no instance has.
   *
   * @param taskType the type that no worker of the application runs; null if no worker has the
   *     application's name
   * @param near the name that may be meant: of a task type, or of an application
   */
  public record Meant(@Nullable String taskType, String near) {}

  @Autowired
  ServedTypes(WorkerDirectory workers, RegistryContact registry) {
    this(workers, registry, System::nanoTime);
  }

  ServedTypes(WorkerDirectory workers, RegistryContact registry, LongSupplier ticks) {
    this.workers = workers;
    this.registry = registry;
    this.ticks = ticks;
    this.fetched = bounded(ticks).expireAfterWrite(FETCHED).build();
    this.hints = bounded(ticks).expireAfterWrite(KEPT).build();
    this.pullers = bounded(ticks).expireAfterWrite(FETCHED).build();
  }

  private static Caffeine<Object, Object> bounded(LongSupplier ticks) {
    return Caffeine.newBuilder()
        .maximumSize(MAX_QUEUES)
        .ticker(ticks::getAsLong)
        .executor(Runnable::run);
  }

  /** The ids in the registry of the instances that get jobs of a queue. */
  public List<String> instances(QueueName queue) {
    return workers.instances(queue.application(), queue.taskType()).stream()
        .map(WorkerInstance::id)
        .toList();
  }

  /**
   * A worker that fetches jobs of a queue at this scheduler.
   *
   * @param worker as it names itself
   * @param lastAt when it asked or was given a job last, by this scheduler's clock
   * @param jobs how many it was given since it began, or since it paused for ten minutes
   */
  public record Puller(String worker, Instant lastAt, long jobs) {}

  /** Notes that a worker asks for jobs of these queues. */
  public void pulled(List<QueueName> queues, String worker) {
    for (QueueName queue : queues) {
      fetched.put(queue, ticks.getAsLong());
      note(queue, worker, 0);
    }
  }

  /** Notes that a worker was given jobs of a queue. */
  public void given(QueueName queue, String worker, int jobs) {
    fetched.put(queue, ticks.getAsLong());
    note(queue, worker, jobs);
  }

  private void note(QueueName queue, String worker, int jobs) {
    Instant now = Instant.now();
    var unused =
        pullers
            .asMap()
            .compute(
                queue,
                (name, known) -> {
                  Map<String, Puller> all = new TreeMap<>(known == null ? Map.of() : known);
                  all.values().removeIf(one -> one.lastAt().isBefore(now.minus(FETCHED)));
                  all.merge(
                      worker,
                      new Puller(worker, now, jobs),
                      (before, more) -> new Puller(worker, now, before.jobs() + jobs));
                  if (all.size() > MAX_PULLERS) {
                    // One without a name has another address after each connection.
                    all.values().stream()
                        .filter(one -> !one.worker().equals(worker))
                        .min(Comparator.comparing(Puller::lastAt))
                        .ifPresent(oldest -> all.remove(oldest.worker()));
                  }
                  return all;
                });
  }

  /** Returns the workers that have fetched jobs of a queue here in the last two minutes. */
  public List<Puller> pullers(QueueName queue) {
    Map<String, Puller> known = pullers.getIfPresent(queue);
    Instant since = Instant.now().minus(PULLED);
    return known == null
        ? List.of()
        : known.values().stream().filter(one -> one.lastAt().isAfter(since)).toList();
  }

  /** Returns the same for all queues that have some, in order of their names. */
  public Map<QueueName, List<Puller>> pullers() {
    Map<QueueName, List<Puller>> all = new TreeMap<>();
    for (QueueName queue : pullers.asMap().keySet()) {
      List<Puller> some = pullers(queue);
      if (!some.isEmpty()) {
        all.put(queue, some);
      }
    }
    return all;
  }

  /**
   * What a submitter should know of the workers of a queue.
   *
   * @param unserved whether none is known; false if this scheduler cannot know yet
   * @param text for people
   */
  public record Notice(boolean unserved, String text) {}

  /**
   * Says that no instance is registered for a queue and that no program fetches its jobs, as far as
   * this scheduler knows, and which name may be meant.
   *
   * @param others whether names of other applications may be told
   * @return null if a worker serves it
   */
  public @Nullable Notice notice(QueueName queue, boolean others) {
    if (isServed(queue)) {
      return null;
    } else if (!isRegistryRead()) {
      return new Notice(
          false,
          "this scheduler has not read the registry yet, so it does not know whether a worker runs "
              + queue.taskType()
              + ". The job is stored.");
    }
    Hint hint = hints.get(queue, this::find);
    return new Notice(true, others ? hint.all() : hint.own());
  }

  /**
   * Returns which name may be meant; null if a worker serves the queue, if that is not known, or if
   * no name is similar.
   *
   * @param others whether names of other applications may be told
   */
  public @Nullable Meant meant(QueueName queue, boolean others) {
    if (isServed(queue) || !isRegistryRead()) {
      return null;
    }
    Meant meant = hints.get(queue, this::find).meant();
    return meant == null || others || meant.taskType() != null ? meant : null;
  }

  private boolean isServed(QueueName queue) {
    return fetched.getIfPresent(queue) != null
        || !workers.instances(queue.application(), queue.taskType()).isEmpty();
  }

  private boolean isRegistryRead() {
    return registry.views().stream().noneMatch(view -> view.age() == null);
  }

  /** Returns whether workers pull the queue's jobs at this scheduler. */
  public boolean isPulled(QueueName queue) {
    Long at = fetched.getIfPresent(queue);
    return at != null && ticks.getAsLong() - at < PULLED.toNanos();
  }

  private Hint find(QueueName queue) {
    String application = queue.application();
    List<WorkerInstance> own = workers.instances(application);
    String text =
        own.isEmpty()
            ? "no instance of " + application + " is registered"
            : "no instance of " + application + " runs " + queue.taskType();
    Set<String> run =
        own.stream()
            .flatMap(instance -> instance.metadata().taskTypes().stream())
            .collect(Collectors.toCollection(TreeSet::new));
    Set<String> fetch =
        fetched.asMap().keySet().stream()
            .filter(known -> known.application().equals(application))
            .map(QueueName::taskType)
            .collect(Collectors.toCollection(TreeSet::new));
    if (!own.isEmpty() || !fetch.isEmpty()) {
      String near = NearestName.of(queue.taskType(), union(run, fetch));
      String described = described(queue, text, near);
      return new Hint(
          described, described, near == null ? null : new Meant(queue.taskType(), near));
    }
    Set<String> registered =
        workers.all().stream()
            .map(WorkerInstance::application)
            .collect(Collectors.toCollection(TreeSet::new));
    Set<String> fetching =
        fetched.asMap().keySet().stream()
            .map(QueueName::application)
            .collect(Collectors.toCollection(TreeSet::new));
    String near = NearestName.of(application, union(registered, fetching));
    return new Hint(
        described(queue, text, null),
        described(queue, text, near),
        near == null ? null : new Meant(null, near));
  }

  private static Set<String> union(Set<String> some, Set<String> others) {
    Set<String> all = new TreeSet<>(some);
    all.addAll(others);
    return all;
  }

  /**
   * @param near the name that may be meant
   */
  private static String described(QueueName queue, String instances, @Nullable String near) {
    return "%s, and no program has fetched %s from this scheduler in the last %d minutes.%s The job is stored and waits for a worker."
        .formatted(
            instances,
            queue.taskType(),
            FETCHED.toMinutes(),
            near == null ? "" : " Did you mean " + near + "?");
  }
}
