package io.punctual.server.dispatch;

import io.punctual.server.registry.WorkerInstance;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What this scheduler knows of instances from its own calls: how much each is doing, and whom to
 * leave alone for a while. An instance that comes back from that gets one job first.
 */
final class InstanceBoard {

  private static final class Entry {
    int outstanding;
    long avoidUntil;
    boolean avoided;
    boolean probing;
    @Nullable String reason;
    boolean called;
    boolean reached;
    long calledAt;

    void called(boolean successfully, long at) {
      called = true;
      reached = successfully;
      calledAt = at;
    }
  }

  private final Map<String, Entry> entries = new ConcurrentHashMap<>();
  private final LongSupplier nanoTime;

  InstanceBoard(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** How many more jobs the instance may get now. */
  int free(WorkerInstance instance) {
    Entry entry = entry(instance);
    synchronized (entry) {
      if (entry.avoided && nanoTime.getAsLong() - entry.avoidUntil < 0) {
        return 0;
      }
      if (entry.avoided || entry.probing) {
        return entry.outstanding == 0 ? 1 : 0;
      }
      return Math.max(0, instance.metadata().concurrency() - entry.outstanding);
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
      entry.outstanding++;
      if (entry.avoided) {
        entry.avoided = false;
        entry.probing = true;
      }
    }
  }

  void ended(WorkerInstance instance) {
    Entry entry = entry(instance);
    synchronized (entry) {
      entry.outstanding--;
    }
  }

  /** The instance answered. */
  void reached(WorkerInstance instance) {
    Entry entry = entry(instance);
    synchronized (entry) {
      entry.avoided = false;
      entry.probing = false;
      entry.reason = null;
      entry.called(true, nanoTime.getAsLong());
    }
  }

  /** The instance was not reached, or wants nothing now. */
  void avoid(WorkerInstance instance, Duration howLong, String reason) {
    Entry entry = entry(instance);
    synchronized (entry) {
      entry.avoided = true;
      entry.probing = false;
      entry.avoidUntil = nanoTime.getAsLong() + howLong.toNanos();
      entry.reason = reason;
      entry.called(false, nanoTime.getAsLong());
    }
  }

  /** Why the instance is left alone, if it is. */
  Optional<String> avoided(WorkerInstance instance) {
    Entry entry = entry(instance);
    synchronized (entry) {
      return entry.avoided ? Optional.ofNullable(entry.reason) : Optional.empty();
    }
  }

  /** What is known of an instance; nothing of it is remembered because somebody asked. */
  InstanceState state(WorkerInstance instance, Instant now) {
    Entry entry = entries.get(key(instance));
    if (entry == null) {
      return InstanceState.UNKNOWN;
    }
    synchronized (entry) {
      long nanos = nanoTime.getAsLong();
      long left = entry.avoidUntil - nanos;
      return new InstanceState(
          entry.outstanding,
          entry.avoided && left > 0 ? now.plusNanos(left) : null,
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
  private static String key(WorkerInstance instance) {
    return instance.application() + "/" + instance.id();
  }
}
