package io.punctual.core.deliver;

import io.punctual.core.QueueListener;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.LogFields;
import io.punctual.core.recovery.Outages;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.StoreException;
import io.punctual.core.wake.Capacity;
import io.punctual.core.work.Backoff;
import io.punctual.core.work.Context;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the leases of one bucket's open deliveries alive: every third of a lease, one call for all
 * of them. Leases are short, so that the jobs of a dead process move on in seconds; the heartbeat
 * is what lets a delivery take longer than that. A deferred delivery is left to its lease once that
 * lasts long enough.
 */
public final class LeaseKeeper {

  private static final Logger log = LoggerFactory.getLogger(LeaseKeeper.class);

  /** A dispatcher that forgot a delivery must not keep its job for ever. */
  static final Duration FORGOTTEN = Duration.ofMinutes(10);

  /** When an attempt that was told to stop is told again, and how often before the next beat. */
  private static final Duration TELL_AGAIN = Duration.ofMillis(500);

  private static final int TELLS = 5;

  private final Bucket bucket;
  private final Context context;
  private final InFlight inFlight;
  private final Capacity.Claimer capacity;
  private final QueueListener listener;
  private final Backoff backoff;
  private final String duty;
  private final Map<String, OpenDelivery> open = new HashMap<>();
  private final Set<Deferral> deferrals = new HashSet<>();
  private boolean beating;
  private boolean closed;

  /**
   * @param until monotonic ns
   */
  private record Deferral(OpenDelivery delivery, long until, CompletableFuture<Void> stored) {}

  public LeaseKeeper(
      Bucket bucket,
      Context context,
      InFlight inFlight,
      Capacity.Claimer capacity,
      QueueListener listener) {
    this.bucket = bucket;
    this.context = context;
    this.inFlight = inFlight;
    this.capacity = capacity;
    this.listener = listener;
    this.backoff = new Backoff(Duration.ofMillis(50), context.options().lease().dividedBy(10));
    this.duty = "Keeping the leases of " + bucket;
  }

  /** Keeps these from now on, until {@link #closed}. */
  public void opened(List<OpenDelivery> deliveries) {
    if (deliveries.isEmpty()) {
      return;
    }
    boolean start;
    synchronized (open) {
      for (OpenDelivery delivery : deliveries) {
        OpenDelivery before = open.put(delivery.taskId(), delivery);
        if (before != null) {
          // The same job claimed again: the store gave up on the older lease.
          before.lose();
        }
      }
      start = !beating;
      beating |= start;
    }
    inFlight.add(deliveries.size());
    capacity.opened(deliveries.stream().mapToLong(OpenDelivery::bytes).sum());
    if (start) {
      tryToBeatAfter(period());
    }
  }

  /** Its end is written, or never will be. */
  public void closed(OpenDelivery delivery) {
    if (!delivery.closes()) {
      return;
    }
    synchronized (open) {
      open.remove(delivery.taskId(), delivery);
    }
    inFlight.add(-1);
    capacity.closed(delivery.bytes());
  }

  /** The deliveries that are open now. */
  public List<OpenDelivery> open() {
    synchronized (open) {
      return List.copyOf(open.values());
    }
  }

  private void tryToBeatAfter(Duration wait) {
    try {
      context.threads().runAfter(wait.toNanos(), this::beat);
    } catch (RuntimeException | Error e) {
      context.defects().met(duty, e);
      synchronized (open) {
        // The next delivery that is opened starts it.
        beating = false;
      }
    }
  }

  private void beat() {
    Duration wait = period().dividedBy(4);
    try {
      List<OpenDelivery> kept = toKeep();
      if (kept == null) {
        return;
      }
      if (extend(kept)) {
        wait = period();
      }
      context.defects().worked(duty);
    } catch (RuntimeException | Error e) {
      context.defects().met(duty, e);
    }
    tryToBeatAfter(wait);
  }

  /**
   * The deliveries whose leases are to be kept; null if none is open, and there is no next beat.
   */
  private @Nullable List<OpenDelivery> toKeep() {
    List<OpenDelivery> kept = new ArrayList<>();
    int lost = 0;
    synchronized (open) {
      if (open.isEmpty()) {
        beating = false;
        return null;
      }
      for (OpenDelivery delivery : open.values()) {
        if (!delivery.lost() && !forgotten(delivery)) {
          kept.add(delivery);
        } else if (delivery.tellsLoss()) {
          // Seen lost a beat ago, and still open: not one whose end was just being written.
          lost++;
        }
      }
    }
    if (lost > 0) {
      listener.lost(lost);
    }
    return kept;
  }

  /**
   * Extends the leases of this scheduler that may have run out. On a busy machine a heartbeat may
   * be late; a scheduler that is alive must not expire its own leases for that.
   *
   * @throws StoreException if the store did not answer
   */
  public void keepLapsed() {
    if (!context.threads().runLater()) {
      // No thread extends the leases of a stepped engine.
      return;
    }
    List<OpenDelivery> lapsed;
    synchronized (open) {
      lapsed = open.values().stream().filter(OpenDelivery::lapsed).toList();
    }
    extendAll(lapsed);
  }

  private boolean forgotten(OpenDelivery delivery) {
    if (delivery.overdue(context.now()).compareTo(FORGOTTEN) < 0) {
      return false;
    }
    LogFields.of(log.atError(), bucket.queue(), delivery.taskId())
        .log(
            "The delivery of {} of {} was never ended by the dispatcher; its lease is given up",
            delivery.taskId(),
            bucket);
    delivery.lose();
    return true;
  }

  private boolean extend(List<OpenDelivery> kept) {
    try {
      extendAll(kept);
      return true;
    } catch (StoreException e) {
      return false;
    }
  }

  private void extendAll(List<OpenDelivery> all) {
    for (int from = 0; from < all.size(); from += JobStore.MAX_JOBS) {
      extendSome(
          all.subList(from, Math.min(all.size(), from + JobStore.MAX_JOBS)),
          context.options().lease());
    }
  }

  /**
   * Extends one lease, between two beats.
   *
   * @param atLeast how long, if that is longer than leases are
   * @throws io.punctual.core.store.StoreException if the store did not answer
   */
  void renew(OpenDelivery delivery, Duration atLeast) {
    Duration own = context.options().lease();
    extendSome(List.of(delivery), atLeast.compareTo(own) > 0 ? atLeast : own);
  }

  /**
   * Leaves an open delivery to its lease, once that lasts long enough.
   *
   * @param until monotonic ns
   * @return completes exceptionally when the engine is closed before the store has it
   */
  CompletableFuture<Void> defer(OpenDelivery delivery, long until) {
    Deferral deferral = new Deferral(delivery, until, new CompletableFuture<>());
    synchronized (deferrals) {
      if (!closed) {
        deferrals.add(deferral);
      }
    }
    context.threads().run(() -> tryTo(deferral));
    return deferral.stored();
  }

  private void tryTo(Deferral deferral) {
    OpenDelivery delivery = deferral.delivery();
    boolean givenUp;
    synchronized (deferrals) {
      givenUp = !deferrals.contains(deferral);
    }
    if (givenUp) {
      end(deferral, closedBefore());
      return;
    }
    try {
      renew(delivery, Duration.ofNanos(Math.max(0, deferral.until() - context.now())));
    } catch (StoreException e) {
      // It is kept alive as before meanwhile, as far as the store lets us.
      context
          .threads()
          .runAfter(
              e.kind() == StoreException.Kind.CORRUPT
                  ? Outages.QUARANTINE.toNanos()
                  : backoff.next(ThreadLocalRandom.current()),
              () -> tryTo(deferral));
      return;
    } catch (RuntimeException | Error e) {
      LogFields.of(log.atError(), bucket.queue(), delivery.taskId())
          .log("Job {} is left to its lease, it could not be deferred", delivery.taskId(), e);
      end(deferral, e);
      return;
    }
    backoff.reset();
    delivery.tell(listener);
    end(deferral, null);
  }

  private void end(Deferral deferral, @Nullable Throwable why) {
    synchronized (deferrals) {
      deferrals.remove(deferral);
    }
    closed(deferral.delivery());
    if (why == null) {
      deferral.stored().complete(null);
    } else {
      deferral.stored().completeExceptionally(why);
    }
  }

  private static CancellationException closedBefore() {
    return new CancellationException("the engine was closed before the store had it");
  }

  /** How many deferrals the store does not have yet. */
  public int deferrals() {
    synchronized (deferrals) {
      return deferrals.size();
    }
  }

  /** Gives up deferrals that the store does not have yet. */
  public void close() {
    List<Deferral> left;
    synchronized (deferrals) {
      closed = true;
      left = List.copyOf(deferrals);
    }
    left.forEach(deferral -> end(deferral, closedBefore()));
  }

  private void extendSome(List<OpenDelivery> some, Duration lease) {
    long sent = context.now();
    JobStore.Extended extended =
        context.jobs().extend(bucket, some.stream().map(OpenDelivery::lease).toList(), lease);
    for (OpenDelivery delivery : some) {
      if (extended.lost().contains(delivery.taskId())) {
        delivery.lose();
      } else {
        delivery.extended(sent, lease);
      }
      if (extended.cancelling().contains(delivery.taskId())
          && delivery.cancelling() < TELLS
          && context.threads().runLater()) {
        // The worker may not have heard it, or not have had the job yet.
        context.threads().runAfter(TELL_AGAIN.toNanos(), () -> ask(delivery));
      }
    }
  }

  /** Looks whether an attempt is to stop, in case it is one of those that are open. */
  public void ask(String taskId) {
    OpenDelivery delivery;
    synchronized (open) {
      delivery = open.get(taskId);
    }
    if (delivery != null) {
      context.threads().run(() -> ask(delivery));
    }
  }

  private void ask(OpenDelivery delivery) {
    synchronized (open) {
      if (open.get(delivery.taskId()) != delivery || delivery.lost()) {
        return;
      }
    }
    try {
      renew(delivery, Duration.ZERO);
    } catch (StoreException e) {
      log.debug(
          "Asking whether {} must stop failed; the next beat asks again", delivery.taskId(), e);
    }
  }

  private Duration period() {
    return context.options().lease().dividedBy(3);
  }

  @Override
  public String toString() {
    return bucket.toString();
  }
}
