package io.punctual.core.engine;

import io.punctual.core.queue.Bucket;
import io.punctual.core.queue.LogFields;
import io.punctual.core.store.JobStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the leases of one bucket's open deliveries alive: every third of a lease, one call for all
 * of them. Leases are short, so that the jobs of a dead process move on in seconds; the heartbeat
 * is what lets a delivery take longer than that.
 */
final class LeaseKeeper {

  private static final Logger log = LoggerFactory.getLogger(LeaseKeeper.class);

  /** A dispatcher that forgot a delivery must not keep its job for ever. */
  static final Duration FORGOTTEN = Duration.ofMinutes(10);

  private final Bucket bucket;
  private final Context context;
  private final QueueListener listener;
  private final Map<String, OpenDelivery> open = new HashMap<>();
  private boolean beating;

  LeaseKeeper(Bucket bucket, Context context, QueueListener listener) {
    this.bucket = bucket;
    this.context = context;
    this.listener = listener;
  }

  /** Keeps these from now on, until {@link #closed}. */
  void opened(List<OpenDelivery> deliveries) {
    boolean start;
    synchronized (open) {
      for (OpenDelivery delivery : deliveries) {
        OpenDelivery before = open.put(delivery.taskId(), delivery);
        if (before != null) {
          // The same job claimed again: the store gave up on the older lease.
          before.lose();
        }
      }
      start = !beating && !open.isEmpty();
      beating |= start;
    }
    context.inFlight().add(deliveries.size());
    context
        .openContent()
        .opened(
            bucket.queue().application(), deliveries.stream().mapToLong(OpenDelivery::bytes).sum());
    if (start) {
      beatAfter(period());
    }
  }

  /** Its end is written, or never will be. */
  void closed(OpenDelivery delivery) {
    synchronized (open) {
      open.remove(delivery.taskId(), delivery);
    }
    context.inFlight().add(-1);
    context.openContent().closed(bucket.queue().application(), delivery.bytes());
  }

  /** The deliveries that are open now. */
  List<OpenDelivery> open() {
    synchronized (open) {
      return List.copyOf(open.values());
    }
  }

  private void beatAfter(Duration wait) {
    context.threads().runAfter(wait.toNanos(), this::beat);
  }

  private void beat() {
    List<OpenDelivery> kept = new ArrayList<>();
    int lost = 0;
    synchronized (open) {
      if (open.isEmpty()) {
        beating = false;
        return;
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
    beatAfter(extend(kept) ? period() : period().dividedBy(4));
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
      for (int from = 0; from < kept.size(); from += JobStore.MAX_JOBS) {
        extendSome(
            kept.subList(from, Math.min(kept.size(), from + JobStore.MAX_JOBS)),
            context.options().lease());
      }
      return true;
    } catch (RuntimeException e) {
      context.outages().failedOnDemand(this, bucket, e);
      return false;
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

  private void extendSome(List<OpenDelivery> some, Duration lease) {
    long sent = context.now();
    Set<String> gone =
        context.jobs().extend(bucket, some.stream().map(OpenDelivery::lease).toList(), lease);
    context.contact().answered(context.now());
    context.outages().answered(this, bucket);
    for (OpenDelivery delivery : some) {
      if (gone.contains(delivery.taskId())) {
        delivery.lose();
      } else {
        delivery.extended(sent, lease);
      }
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
