package io.punctual.core.engine;

import io.punctual.core.queue.Bucket;
import io.punctual.core.store.Restoration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * What this engine answered of late, call by call, the oldest first. A call goes when it is old
 * enough at a moment when the store was seen to be the same as before, so that a long fail-over
 * finds all of them; or when memory is short.
 *
 * <p>Taking one costs next to nothing, since that happens all the time: what a call means for each
 * job is found out when it is asked for, which hardly ever happens.
 */
final class Receipts {

  // What the objects of a job take besides its content, estimated from their fields and names.
  private static final int BYTES = 250;

  private final ReceiptOptions options;
  private final LongSupplier ticks;
  private final Deque<Call> calls = new ArrayDeque<>();
  private long bytes;
  private volatile boolean recalling;

  private record Call(Bucket bucket, long taken, long bytes, Effect effect) {}

  /** What a call did to what is remembered of its bucket, by task id. */
  private interface Effect {
    void on(Map<String, Restoration> jobs);
  }

  /**
   * @param ticks monotonic ns
   */
  Receipts(ReceiptOptions options, LongSupplier ticks) {
    this.options = options;
    this.ticks = ticks;
  }

  boolean areKept() {
    return !options.keep().isZero();
  }

  /**
   * Remembers what somebody was told.
   *
   * @param jobs how many
   * @param content bytes of what they hold
   * @param restorations made when they are needed
   */
  void add(Bucket bucket, int jobs, long content, Supplier<List<Restoration>> restorations) {
    add(
        bucket,
        BYTES * (long) jobs + content,
        remembered -> {
          for (Restoration restoration : restorations.get()) {
            Restoration before = remembered.get(restoration.taskId());
            if (before == null || !(endedIn(before, restoration) || isOlder(restoration, before))) {
              // Again at the end: it is the newest.
              remembered.remove(restoration.taskId());
              remembered.put(restoration.taskId(), restoration);
            }
          }
        });
  }

  // A job may be done before the thread that submitted it gets to its receipt.
  private static boolean endedIn(Restoration before, Restoration waiting) {
    return before.job() == null
        && waiting.job() != null
        && before.incarnation().equals(waiting.incarnation());
  }

  // Nor must the end of an earlier job take its successor with it.
  private static boolean isOlder(Restoration end, Restoration before) {
    return end.job() == null
        && before.job() != null
        && !before.incarnation().equals(end.incarnation())
        && before.job().acceptedAt() >= end.at();
  }

  /** The store has forgotten something, and it is being put back. */
  void recall() {
    recalling = true;
  }

  /** Whether schedulers put back now what they have receipts of. */
  boolean recalling() {
    return recalling;
  }

  /** These jobs must not be put back. */
  void drop(Bucket bucket, List<String> taskIds) {
    add(bucket, BYTES * (long) taskIds.size(), jobs -> taskIds.forEach(jobs::remove));
  }

  /** No job of the bucket must be put back. */
  void dropAll(Bucket bucket) {
    add(bucket, BYTES, Map::clear);
  }

  private synchronized void add(Bucket bucket, long size, Effect effect) {
    if (!areKept()) {
      return;
    }
    calls.addLast(new Call(bucket, ticks.getAsLong(), size, effect));
    bytes += size;
    while (bytes > options.maxBytes()) {
      removeOldest();
    }
  }

  /** The store is the same as it was: what is old enough is not needed any more. */
  synchronized void verified() {
    recalling = false;
    long before = ticks.getAsLong() - options.keep().toNanos();
    while (!calls.isEmpty() && calls.getFirst().taken() <= before) {
      removeOldest();
    }
  }

  private void removeOldest() {
    bytes -= calls.removeFirst().bytes();
  }

  /** The last of each job, by bucket. */
  Map<Bucket, List<Restoration>> all() {
    List<Call> taken;
    synchronized (this) {
      taken = List.copyOf(calls);
    }
    Map<Bucket, Map<String, Restoration>> jobs = new HashMap<>();
    for (Call call : taken) {
      call.effect().on(jobs.computeIfAbsent(call.bucket(), bucket -> new LinkedHashMap<>()));
    }
    Map<Bucket, List<Restoration>> all = new HashMap<>();
    jobs.forEach((bucket, last) -> all.put(bucket, new ArrayList<>(last.values())));
    return all;
  }
}
