package io.punctual.spring.outbox;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claimed rows that stay ours for as long as calls take. One call is tried at several schedulers,
 * and may need longer than any lease; were its rows given to another relay meanwhile, a late try
 * could undo what that one did. Where the lease cannot be kept, the thread that calls is
 * interrupted before it is over.
 */
final class KeptClaim {

  private static final Logger log = LoggerFactory.getLogger(KeptClaim.class);
  private static final int PARTS = 6;

  private final OutboxTable table;
  private final List<Long> ids;
  private final String claim;
  private final Duration lease;
  private final Thread caller = Thread.currentThread();
  private final ScheduledFuture<?> keeping;
  private final ScheduledFuture<?> watching;
  private volatile long kept;
  private volatile boolean lost;
  private volatile boolean over;
  private final Object statement = new Object();

  /**
   * For calls of this thread.
   *
   * @param since {@link System#nanoTime} from which the lease counts, or earlier
   * @param timer with a thread to spare where a statement hangs
   */
  KeptClaim(
      OutboxTable table,
      List<Long> ids,
      String claim,
      Duration lease,
      long since,
      ScheduledExecutorService timer) {
    this.table = table;
    this.ids = List.copyOf(ids);
    this.claim = claim;
    this.lease = lease;
    this.kept = since;
    long part = lease.toNanos() / PARTS;
    keeping = timer.scheduleWithFixedDelay(this::keep, part, part, TimeUnit.NANOSECONDS);
    watching = timer.scheduleWithFixedDelay(this::watch, part, part / 2, TimeUnit.NANOSECONDS);
  }

  /** Whether another call may begin: half of the lease is left, which is enough to see its end. */
  boolean isOurs() {
    return !lost && System.nanoTime() - kept < lease.toNanos() / 2;
  }

  private void keep() {
    synchronized (statement) {
      if (over) {
        return;
      }
      long asked = System.nanoTime();
      try {
        if (table.extend(ids, claim, lease) == ids.size()) {
          kept = asked;
        } else {
          lose("another process has taken or removed rows of it");
        }
      } catch (RuntimeException | Error e) {
        // Also an Error, with which the timer would end. Until the watch says that it was too
        // often.
        log.debug("A claim of the outbox could not be extended, trying again", e);
      }
    }
  }

  private void watch() {
    if (System.nanoTime() - kept > lease.toNanos() / PARTS * 4) {
      lose("the database did not extend it in time");
    }
  }

  private synchronized void lose(String why) {
    if (!over && !lost) {
      lost = true;
      log.warn(
          "Punctual: calls of the outbox are broken off and will be made again: a claim was lost, {}",
          why);
      caller.interrupt();
    }
  }

  /** The calls have ended; what interrupted them is no concern of what follows. */
  void end() {
    synchronized (this) {
      over = true;
      if (lost) {
        var unused = Thread.interrupted();
      }
    }
    keeping.cancel(false);
    watching.cancel(false);
    synchronized (statement) {
      // Two statements on the same rows at once could be in each other's way.
    }
  }
}
