package io.punctual.server.dispatch;

import io.punctual.server.registry.WorkerInstance;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What this scheduler knows of instances from its own calls: how much each is doing, and whom to
 * leave alone for a while. An instance that comes back from that gets one job first.
 *
 * <p>There are two reasons to leave one alone. Where it is not reached, or wants nothing, no job is
 * sent to it. Where it takes jobs and answers none, it is passed over as long as another one
 * answers: were all of them passed over, task types that always take too long would hold up those
 * that do not.
 */
final class InstanceBoard {

  /** So many jobs in a row that are not answered in time make an instance one that hangs. */
  static final int TIMES_OVER = 3;

  private static final long LONGEST_PAUSE = Duration.ofMinutes(1).toNanos();

  private record Key(String application, String instance) {}

  private static final class Entry {
    int outstanding;

    boolean avoided;
    long avoidUntil;
    boolean probing;
    long probedAt;

    int timesOver;
    boolean everAnswered;
    long answeredAt;
    boolean hangs;
    boolean hangProbed;
    long hangProbedAt;
    int timesHung;
    long hangsSince;
    long hangsUntil;

    @Nullable String reason;
    boolean called;
    boolean reached;
    long calledAt;

    void called(boolean successfully, @Nullable String reason, long at) {
      called = true;
      reached = successfully;
      this.reason = reason;
      calledAt = at;
    }

    boolean isPassedOver(long now) {
      return hangs && (hangProbed || now - hangsUntil < 0);
    }
  }

  private final Map<Key, Entry> entries = new ConcurrentHashMap<>();
  // How many hang: mostly none, and then nobody need be asked.
  private final AtomicInteger hanging = new AtomicInteger();
  private final Duration avoid;
  private final long taken;
  private final LongSupplier nanoTime;

  /**
   * @param avoid how long an instance that hangs is left alone at first, up to a minute
   * @param taken after this time a request that was not refused counts as taken, though no answer
   *     has begun: more than it takes to connect, or to fail in it
   */
  InstanceBoard(Duration avoid, Duration taken, LongSupplier nanoTime) {
    this.avoid = avoid;
    this.taken = taken.toNanos();
    this.nanoTime = nanoTime;
  }

  /** How many more jobs the instance may get now, if it is not passed over. */
  int free(WorkerInstance instance) {
    Entry entry = entry(instance);
    synchronized (entry) {
      long now = nanoTime.getAsLong();
      if (entry.avoided && now - entry.avoidUntil < 0) {
        return 0;
      }
      if (entry.probing && now - entry.probedAt >= taken) {
        entry.probing = false;
      }
      int room = Math.max(0, instance.metadata().concurrency() - entry.outstanding);
      if (entry.probing) {
        return 0;
      }
      return entry.avoided ? Math.min(1, room) : room;
    }
  }

  /** How many more jobs these may get together. */
  int free(List<WorkerInstance> instances) {
    boolean anyAnswers = hanging.get() > 0 && anyAnswers(instances);
    int free = 0;
    for (WorkerInstance instance : candidates(instances)) {
      int some = free(instance);
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
            .filter(
                instance -> {
                  Entry entry = entry(instance);
                  synchronized (entry) {
                    return !entry.isPassedOver(now);
                  }
                })
            .toList();
    // The last one may have begun to hang meanwhile.
    return candidates.isEmpty() ? instances : candidates;
  }

  /** The ids of those that jobs go to, without any that is not reached. */
  Set<String> serving(List<WorkerInstance> instances) {
    return candidates(instances).stream()
        .filter(
            instance -> {
              Entry entry = entry(instance);
              synchronized (entry) {
                return !entry.avoided && !entry.probing;
              }
            })
        .map(WorkerInstance::id)
        .collect(Collectors.toUnmodifiableSet());
  }

  private boolean anyAnswers(List<WorkerInstance> instances) {
    return instances.stream().anyMatch(instance -> !hangs(instance));
  }

  private boolean hangs(WorkerInstance instance) {
    Entry entry = entries.get(key(instance));
    if (entry == null) {
      return false;
    }
    synchronized (entry) {
      return entry.hangs;
    }
  }

  /** Jobs that this scheduler has with the instance, in parts of what it takes at once. */
  double load(WorkerInstance instance) {
    Entry entry = entry(instance);
    synchronized (entry) {
      return (double) entry.outstanding / instance.metadata().concurrency();
    }
  }

  void started(WorkerInstance instance) {
    Entry entry = entry(instance);
    synchronized (entry) {
      long now = nanoTime.getAsLong();
      entry.outstanding++;
      if (entry.avoided) {
        entry.avoided = false;
        entry.probing = true;
        entry.probedAt = now;
      }
      if (entry.hangs && now - entry.hangsUntil >= 0) {
        entry.hangProbed = true;
        entry.hangProbedAt = now;
      }
    }
  }

  /** A job that was started is not sent, or was refused. */
  void withdrawn(WorkerInstance instance) {
    ended(instance, nanoTime.getAsLong());
  }

  /**
   * A job that was started is there no more, whatever became of it.
   *
   * @param sentAt by the clock that was given to the constructor
   */
  void ended(WorkerInstance instance, long sentAt) {
    Entry entry = entry(instance);
    synchronized (entry) {
      entry.outstanding--;
      if (sentAt - entry.hangProbedAt >= 0) {
        entry.hangProbed = false;
      }
      if (entry.probing && nanoTime.getAsLong() - entry.probedAt < taken) {
        // Nobody knows yet whether it takes jobs: the next one probes.
        entry.probing = false;
        entry.avoided = true;
      }
    }
  }

  /** The instance took a request. */
  void reached(WorkerInstance instance) {
    Entry entry = entry(instance);
    synchronized (entry) {
      entry.avoided = false;
      entry.probing = false;
      entry.called(true, null, nanoTime.getAsLong());
    }
  }

  /** The instance said what became of a job, or that it goes on with one. */
  void answered(WorkerInstance instance) {
    Entry entry = entry(instance);
    synchronized (entry) {
      entry.everAnswered = true;
      entry.answeredAt = nanoTime.getAsLong();
      entry.timesOver = 0;
      entry.timesHung = 0;
      if (entry.hangs || !entry.reached) {
        if (entry.hangs) {
          hanging.decrementAndGet();
        }
        entry.hangs = false;
        if (!entry.avoided) {
          entry.called(true, null, entry.answeredAt);
        }
      }
    }
  }

  /**
   * The instance did not answer a job in time. That says something of the instance only if it has
   * answered no other one meanwhile.
   *
   * @param sentAt by the clock that was given to the constructor
   * @return how long the instance is left alone since this one; null if it is not
   */
  @Nullable Duration timeOver(WorkerInstance instance, long sentAt, String reason) {
    Entry entry = entry(instance);
    synchronized (entry) {
      long now = nanoTime.getAsLong();
      if (entry.everAnswered && entry.answeredAt - sentAt >= 0) {
        return null;
      }
      // What was sent before it was known to hang says nothing new.
      if (entry.hangs && sentAt - entry.hangsSince <= 0) {
        return null;
      }
      entry.timesOver++;
      if (!entry.avoided) {
        entry.called(false, reason, now);
      }
      if (!entry.hangs && entry.timesOver < TIMES_OVER) {
        return null;
      }
      long pause = avoid.toNanos();
      for (int i = 0; i < entry.timesHung && pause < LONGEST_PAUSE; i++) {
        pause = Math.min(2 * pause, LONGEST_PAUSE);
      }
      entry.timesHung++;
      if (!entry.hangs) {
        hanging.incrementAndGet();
      }
      entry.hangs = true;
      entry.hangProbed = false;
      entry.hangsSince = now;
      entry.hangsUntil = now + pause;
      return Duration.ofNanos(pause);
    }
  }

  /** The instance was not reached, or wants nothing now. */
  void avoid(WorkerInstance instance, Duration howLong, String reason) {
    Entry entry = entry(instance);
    synchronized (entry) {
      long now = nanoTime.getAsLong();
      entry.avoided = true;
      entry.probing = false;
      entry.avoidUntil = now + howLong.toNanos();
      entry.called(false, reason, now);
    }
  }

  /**
   * What is known of an instance; nothing of it is remembered because somebody asked.
   *
   * @param all instances of its application
   */
  InstanceState state(WorkerInstance instance, List<WorkerInstance> all, Instant now) {
    Entry entry = entries.get(key(instance));
    if (entry == null) {
      return InstanceState.UNKNOWN;
    }
    boolean passedOver = anyAnswers(all);
    synchronized (entry) {
      long nanos = nanoTime.getAsLong();
      long left = entry.avoided ? entry.avoidUntil - nanos : 0;
      if (passedOver && entry.hangs) {
        left = Math.max(left, entry.hangsUntil - nanos);
      }
      return new InstanceState(
          entry.outstanding,
          left > 0 ? now.plusNanos(left) : null,
          entry.called
              ? new InstanceState.LastCall(
                  now.minusNanos(nanos - entry.calledAt), entry.reached, entry.reason)
              : null);
    }
  }

  private Entry entry(WorkerInstance instance) {
    return entries.computeIfAbsent(key(instance), id -> new Entry());
  }

  // An id is the choice of whoever registers: it must say nothing about other applications.
  private static Key key(WorkerInstance instance) {
    return new Key(instance.application(), instance.id());
  }
}
