package io.punctual.server.dispatch;

import io.punctual.server.registry.WorkerInstance;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What this scheduler knows of instances from its own calls: how many of its jobs each has, and
 * which ones are better avoided.
 *
 * <p>There are two reasons to avoid one. Where it is not reached, or wants nothing, no job is sent
 * to it. Where it takes jobs and answers none, it is passed over as long as another one answers:
 * were all of them passed over, task types that always take too long would hold up those that do
 * not.
 */
final class InstanceTracker {

  /** Connections that break within that time were to one process that ended. */
  private static final long BURST = SharedInstances.SAME_END.toNanos();

  private static final long TELL_AGAIN = BURST / 2;

  private record Key(String application, String instance) {}

  /** Guarded by itself. */
  private final class Entry {
    final Reachability reachability = new Reachability(takenAfter);
    final Responsiveness responsiveness = new Responsiveness(avoid.toNanos());
    // Of one release: a new one is not to blame for what the one before it did under its id.
    RecentAttempts attempts = new RecentAttempts();
    @Nullable String release;
    int inFlight;
    // Gets no other job while one that may end its process is there, or about to be.
    boolean held;
    int suspects;
    long suspectAt;
    boolean everBroke;
    long brokeAt;
    long toldAt;

    boolean called;
    boolean reached;
    @Nullable String reason;
    long calledAt;

    int room(WorkerInstance instance) {
      return held ? 0 : Math.max(0, instance.metadata().concurrency() - inFlight);
    }

    void called(boolean successfully, @Nullable String why, long at) {
      called = true;
      reached = successfully;
      reason = why;
      calledAt = at;
    }
  }

  private final Map<Key, Entry> entries = new ConcurrentHashMap<>();
  // How many hang: mostly none, and then no entry need be asked.
  private final AtomicInteger hanging = new AtomicInteger();
  private final Duration avoid;
  private final long takenAfter;
  private final LongSupplier nanoTime;

  /**
   * @param avoid how long an instance that hangs is avoided at first, up to a minute
   * @param takenAfter after this time a request that was not refused counts as taken, though no
   *     answer has begun
   */
  InstanceTracker(Duration avoid, Duration takenAfter, LongSupplier nanoTime) {
    this.avoid = avoid;
    this.takenAfter = takenAfter.toNanos();
    this.nanoTime = nanoTime;
  }

  /**
   * A broken connection.
   *
   * @param alone whether no other job of this scheduler was with the instance
   * @param news whether it is the first one within half a second
   */
  record Break(boolean alone, boolean news) {}

  /** A job that is with an instance, from the choice of the instance to its end. */
  final class Slot {

    private final Entry entry;
    private final RecentAttempts attempts;
    private final long openedAt;
    private final boolean suspect;
    private boolean closed;

    private Slot(Entry entry, RecentAttempts attempts, long openedAt, boolean suspect) {
      this.entry = entry;
      this.attempts = attempts;
      this.openedAt = openedAt;
      this.suspect = suspect;
    }

    /**
     * The attempt has ended, and counts for the instance.
     *
     * @param tookNs from when it was sent
     */
    void ended(boolean done, long tookNs) {
      synchronized (entry) {
        attempts.add(nanoTime.getAsLong(), done, tookNs);
      }
    }

    /** When it was opened, by the clock that was given to the tracker. */
    long openedAt() {
      return openedAt;
    }

    /**
     * The connection of the job broke; to be called before it is closed. All connections to a
     * process that ends break, one shortly after the other.
     */
    Break broke() {
      synchronized (entry) {
        long now = nanoTime.getAsLong();
        boolean oneOfMany =
            entry.everBroke && entry.brokeAt - openedAt >= 0 && now - entry.brokeAt < BURST;
        boolean news = !entry.everBroke || now - entry.toldAt >= TELL_AGAIN;
        entry.everBroke = true;
        entry.brokeAt = now;
        if (news) {
          entry.toldAt = now;
        }
        return new Break(entry.inFlight <= 1 && !oneOfMany, news);
      }
    }

    /** The job is there no more, whatever became of it. Counts once. */
    void close() {
      synchronized (entry) {
        if (closed) {
          return;
        }
        closed = true;
        entry.inFlight--;
        if (suspect) {
          entry.suspects--;
        }
        entry.responsiveness.ended(openedAt);
        entry.reachability.ended(nanoTime.getAsLong());
      }
    }
  }

  /**
   * Books a job in at the instance.
   *
   * @param suspect whether it may end the instance's process
   */
  Slot open(WorkerInstance instance, boolean suspect) {
    long now = nanoTime.getAsLong();
    RecentAttempts[] opened = new RecentAttempts[1];
    // Within the map's own lock: an entry that counts a job is never forgotten.
    Entry entry =
        entries.compute(
            key(instance),
            (key, known) -> {
              Entry counted = known == null ? new Entry() : known;
              synchronized (counted) {
                counted.inFlight++;
                if (!Objects.equals(counted.release, instance.metadata().release())) {
                  counted.release = instance.metadata().release();
                  counted.attempts = new RecentAttempts();
                }
                opened[0] = counted.attempts;
                if (suspect) {
                  counted.suspects++;
                  counted.suspectAt = now;
                }
                counted.reachability.sending(now);
                counted.responsiveness.sending(now);
              }
              return counted;
            });
    return new Slot(entry, opened[0], now, suspect);
  }

  /** How many more jobs of the type the instance may get now, if it is not passed over. */
  int free(WorkerInstance instance, String taskType) {
    return ask(
        instance,
        entry -> {
          long now = nanoTime.getAsLong();
          int room = entry.room(instance);
          return entry.reachability.takes(taskType, now)
              ? entry.reachability.allowed(now, room)
              : 0;
        },
        instance.metadata().concurrency());
  }

  /**
   * Keeps all jobs from an instance that are not booked in regardless, or ends that.
   *
   * @see Suspects
   */
  void hold(WorkerInstance instance, boolean held) {
    Entry entry = entry(instance);
    synchronized (entry) {
      entry.held = held;
    }
  }

  /** Whether the instance is reached and takes jobs of the type, be it full or held. */
  boolean takes(WorkerInstance instance, String taskType) {
    return ask(
        instance,
        entry -> {
          long now = nanoTime.getAsLong();
          return entry.reachability.takes(taskType, now) && entry.reachability.allowed(now, 1) > 0;
        },
        true);
  }

  /** Whether a job that may end the instance's process came there within that time, and is. */
  boolean hasSuspect(WorkerInstance instance, Duration within) {
    return ask(
        instance,
        entry -> entry.suspects > 0 && nanoTime.getAsLong() - entry.suspectAt < within.toNanos(),
        false);
  }

  /** Whether the instance may get any job now. */
  boolean isFree(WorkerInstance instance) {
    return ask(
        instance,
        entry -> entry.reachability.allowed(nanoTime.getAsLong(), entry.room(instance)) > 0,
        true);
  }

  /** How many more jobs of the type these may get together. */
  int free(List<WorkerInstance> instances, String taskType) {
    boolean anyAnswers = hanging.get() > 0 && anyAnswers(instances);
    int free = 0;
    for (WorkerInstance instance : candidates(instances)) {
      int some = free(instance, taskType);
      free += anyAnswers && hangs(instance) ? Math.min(1, some) : some;
    }
    return free;
  }

  /** Those that jobs go to: all but the ones that hang, or all where none answers. */
  List<WorkerInstance> candidates(List<WorkerInstance> instances) {
    if (hanging.get() == 0 || !anyAnswers(instances)) {
      return instances;
    }
    long now = nanoTime.getAsLong();
    List<WorkerInstance> candidates =
        instances.stream()
            .filter(instance -> !ask(instance, e -> e.responsiveness.isPassedOver(now), false))
            .toList();
    // The last one may have begun to hang meanwhile.
    return candidates.isEmpty() ? instances : candidates;
  }

  /** The ids of those that jobs go to, without any that is not reached. */
  Set<String> serving(List<WorkerInstance> instances) {
    long now = nanoTime.getAsLong();
    return candidates(instances).stream()
        .filter(instance -> ask(instance, e -> e.reachability.isReached(now), true))
        .map(WorkerInstance::id)
        .collect(Collectors.toUnmodifiableSet());
  }

  private boolean anyAnswers(List<WorkerInstance> instances) {
    return instances.stream().anyMatch(instance -> !hangs(instance));
  }

  private boolean hangs(WorkerInstance instance) {
    return ask(instance, e -> e.responsiveness.hangs(), false);
  }

  /** Jobs that this scheduler has with the instance, in parts of what it takes at once. */
  double load(WorkerInstance instance) {
    return (double) inFlight(instance) / instance.metadata().concurrency();
  }

  /** Jobs that this scheduler has with the instance. */
  int inFlight(WorkerInstance instance) {
    return ask(instance, e -> e.inFlight, 0);
  }

  /** The instance took a request. */
  void reached(WorkerInstance instance) {
    Entry entry = entry(instance);
    synchronized (entry) {
      entry.reachability.reached();
      entry.called(true, null, nanoTime.getAsLong());
    }
  }

  /** The instance said what became of a job, or that it goes on with one. */
  void answered(WorkerInstance instance) {
    Entry entry = entry(instance);
    synchronized (entry) {
      long now = nanoTime.getAsLong();
      boolean hung = entry.responsiveness.answered(now);
      if (hung) {
        hanging.decrementAndGet();
      }
      if ((hung || !entry.reached) && !entry.reachability.isAvoided()) {
        entry.called(true, null, now);
      }
    }
  }

  /** Whether the instance answered a job since then, by the clock that was given here. */
  boolean hasAnsweredSince(WorkerInstance instance, long time) {
    return ask(instance, e -> e.responsiveness.hasAnsweredSince(time), false);
  }

  /**
   * The instance did not answer a job in time. That says something of the instance only if it has
   * answered no other one meanwhile.
   *
   * @param sentAt by the clock that was given to the constructor
   * @return how long the instance is avoided since this one; null if it is not
   */
  @Nullable Duration timeOver(WorkerInstance instance, long sentAt, String reason) {
    Entry entry = entry(instance);
    synchronized (entry) {
      long now = nanoTime.getAsLong();
      if (entry.responsiveness.hasAnsweredSince(sentAt)) {
        return null;
      }
      boolean hung = entry.responsiveness.hangs();
      Duration pause = entry.responsiveness.timeOver(sentAt, now);
      if (!entry.reachability.isAvoided()) {
        entry.called(false, reason, now);
      }
      if (!hung && entry.responsiveness.hangs()) {
        hanging.incrementAndGet();
      }
      return pause;
    }
  }

  /** The instance was not reached, or wants nothing now. */
  void avoid(WorkerInstance instance, Duration howLong, String reason) {
    Entry entry = entry(instance);
    synchronized (entry) {
      long now = nanoTime.getAsLong();
      entry.reachability.avoid(now, howLong.toNanos());
      entry.called(false, reason, now);
    }
  }

  /** The instance wants no more jobs of one type. */
  void retire(WorkerInstance instance, String taskType, Duration howLong, String reason) {
    Entry entry = entry(instance);
    synchronized (entry) {
      long now = nanoTime.getAsLong();
      entry.reachability.reached();
      entry.reachability.retire(taskType, now, howLong.toNanos());
      entry.called(true, reason, now);
    }
  }

  /**
   * What is known of an instance; nothing of it is remembered because of the question.
   *
   * @param all instances of its application
   */
  InstanceState state(WorkerInstance instance, List<WorkerInstance> all, Instant now) {
    boolean passedOver = anyAnswers(all);
    return ask(
        instance,
        entry -> {
          long nanos = nanoTime.getAsLong();
          long left = entry.reachability.avoidedFor(nanos);
          if (passedOver) {
            left = Math.max(left, entry.responsiveness.avoidedFor(nanos));
          }
          return new InstanceState(
              entry.inFlight,
              left > 0 ? now.plusNanos(left) : null,
              entry.called
                  ? new InstanceState.LastCall(
                      now.minusNanos(nanos - entry.calledAt), entry.reached, entry.reason)
                  : null,
              entry.attempts.figures(nanos));
        },
        InstanceState.UNKNOWN);
  }

  /**
   * Forgets instances that left the registry, once no job is with them.
   *
   * @param registered the ids of an application's instances in the registry
   * @param gone told the application and the id of each that is forgotten
   */
  void tidy(Function<String, Set<String>> registered, BiConsumer<String, String> gone) {
    Map<String, Set<String>> known = new HashMap<>();
    for (Key key : entries.keySet()) {
      if (!known.computeIfAbsent(key.application(), registered).contains(key.instance())
          && entries.computeIfPresent(key, (k, entry) -> isForgotten(entry) ? null : entry)
              == null) {
        gone.accept(key.application(), key.instance());
      }
    }
  }

  private boolean isForgotten(Entry entry) {
    synchronized (entry) {
      if (entry.inFlight > 0 || entry.held) {
        return false;
      }
      if (entry.responsiveness.hangs()) {
        hanging.decrementAndGet();
      }
      return true;
    }
  }

  /** How many instances are known. */
  int size() {
    return entries.size();
  }

  /** How many of them hang. */
  int hanging() {
    return hanging.get();
  }

  /** The jobs that are with any instance. */
  int inFlight() {
    int all = 0;
    for (Entry entry : entries.values()) {
      synchronized (entry) {
        all += entry.inFlight;
      }
    }
    return all;
  }

  private <T> T ask(WorkerInstance instance, Function<Entry, T> question, T unknown) {
    Entry entry = entries.get(key(instance));
    if (entry == null) {
      return unknown;
    }
    synchronized (entry) {
      return question.apply(entry);
    }
  }

  private Entry entry(WorkerInstance instance) {
    return entries.computeIfAbsent(key(instance), key -> new Entry());
  }

  // An instance chooses its id: the id must not reach other applications.
  private static Key key(WorkerInstance instance) {
    return new Key(instance.application(), instance.id());
  }
}
