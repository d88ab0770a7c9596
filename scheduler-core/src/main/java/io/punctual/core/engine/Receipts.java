package io.punctual.core.engine;

import io.punctual.core.queue.Bucket;
import io.punctual.core.store.JobRecord;
import io.punctual.core.store.Restoration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What this engine answered of late, the last of each job: the oldest first. A receipt goes when it
 * is old enough at a moment when the store was seen to be the same as before, so that a long
 * fail-over finds all of them; or when memory is short.
 */
final class Receipts {

  // Of an entry without texts, by counting: map entry, key, receipt, record.
  private static final int BYTES = 250;

  private final ReceiptOptions options;
  private final LongSupplier ticks;
  private final Map<Key, Receipt> receipts = new LinkedHashMap<>();
  private long bytes;

  private record Key(Bucket bucket, String taskId) {}

  private record Receipt(Restoration restoration, long taken, int bytes) {}

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

  /** Remembers what somebody was told. */
  synchronized void add(Bucket bucket, List<Restoration> restorations) {
    long now = ticks.getAsLong();
    for (Restoration restoration : restorations) {
      Key key = new Key(bucket, restoration.taskId());
      forget(receipts.remove(key));
      Receipt receipt = new Receipt(restoration, now, size(restoration));
      receipts.put(key, receipt);
      bytes += receipt.bytes();
    }
    Iterator<Receipt> oldest = receipts.values().iterator();
    while (bytes > options.maxBytes()) {
      forget(oldest.next());
      oldest.remove();
    }
  }

  /** Forgets receipts of a bucket. */
  synchronized void drop(Bucket bucket, Predicate<String> taskIds) {
    receipts
        .entrySet()
        .removeIf(
            entry -> {
              Key key = entry.getKey();
              boolean dropped = key.bucket().equals(bucket) && taskIds.test(key.taskId());
              if (dropped) {
                forget(entry.getValue());
              }
              return dropped;
            });
  }

  /** The store is the same as it was: what is old enough is not needed any more. */
  synchronized void verified() {
    long before = ticks.getAsLong() - options.keep().toNanos();
    Iterator<Receipt> oldest = receipts.values().iterator();
    while (oldest.hasNext()) {
      Receipt receipt = oldest.next();
      if (receipt.taken() > before) {
        break;
      }
      forget(receipt);
      oldest.remove();
    }
  }

  /** All of them, by bucket. */
  synchronized Map<Bucket, List<Restoration>> all() {
    Map<Bucket, List<Restoration>> all = new HashMap<>();
    receipts.forEach(
        (key, receipt) ->
            all.computeIfAbsent(key.bucket(), bucket -> new ArrayList<>())
                .add(receipt.restoration()));
    return all;
  }

  private void forget(@Nullable Receipt receipt) {
    if (receipt != null) {
      bytes -= receipt.bytes();
    }
  }

  private static int size(Restoration restoration) {
    JobRecord job = restoration.job();
    return BYTES + restoration.taskId().length() + (job == null ? 0 : job.content().length);
  }
}
