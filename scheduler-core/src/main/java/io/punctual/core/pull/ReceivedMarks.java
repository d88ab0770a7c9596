package io.punctual.core.pull;

import io.punctual.core.job.Bucket;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Lease;
import io.punctual.core.store.StoreException;
import io.punctual.core.work.Context;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Marks the leases of pulled jobs of one bucket as received. An attempt that runs out counts from
 * then on; before, its job waits again as if it had not been claimed. The mark is written a moment
 * later than it is asked for: most jobs have ended by then, and need none.
 */
public final class ReceivedMarks {

  /** Shorter than any lease that a puller may ask for. */
  private static final Duration SOON = Duration.ofMillis(250);

  /** Shortens no lease: extending keeps the later deadline. */
  static final Duration LEAST = Duration.ofMillis(1);

  private final Bucket bucket;
  private final Context context;

  /** With the end of the lease, monotonic ns. */
  private final Map<Lease, Long> unmarked = new LinkedHashMap<>();

  private boolean waiting;

  public ReceivedMarks(Bucket bucket, Context context) {
    this.bucket = bucket;
    this.context = context;
  }

  /** Marks these leases, which last that long from now. */
  public void add(Map<Lease, Duration> leases) {
    long now = context.now();
    synchronized (unmarked) {
      leases.forEach((lease, lasts) -> unmarked.put(lease, now + lasts.toNanos()));
    }
    schedule();
  }

  /** The lease has ended, or is marked already. */
  public void remove(Lease lease) {
    synchronized (unmarked) {
      unmarked.remove(lease);
    }
  }

  /** How many are left to be marked. */
  public int size() {
    synchronized (unmarked) {
      return unmarked.size();
    }
  }

  /** Writes all marks now. */
  public void flush() {
    List<Lease> some = next();
    while (!some.isEmpty()) {
      try {
        var unused = context.jobs().extend(bucket, some, LEAST);
      } catch (StoreException e) {
        // The next round tries again, as long as the leases last.
        return;
      }
      synchronized (unmarked) {
        some.forEach(unmarked::remove);
      }
      some = next();
    }
  }

  private List<Lease> next() {
    long now = context.now();
    synchronized (unmarked) {
      unmarked.values().removeIf(until -> now - until >= 0);
      List<Lease> all = new ArrayList<>(unmarked.keySet());
      return all.subList(0, Math.min(JobStore.MAX_JOBS, all.size()));
    }
  }

  private void schedule() {
    synchronized (unmarked) {
      if (waiting || unmarked.isEmpty()) {
        return;
      }
      waiting = true;
    }
    try {
      context.threads().runAfter(SOON.toNanos(), this::work);
    } catch (RuntimeException | Error e) {
      synchronized (unmarked) {
        // The next lease that is added starts it.
        waiting = false;
      }
      throw e;
    }
  }

  private void work() {
    try {
      flush();
    } finally {
      synchronized (unmarked) {
        waiting = false;
      }
      schedule();
    }
  }

  @Override
  public String toString() {
    return bucket.toString();
  }
}
