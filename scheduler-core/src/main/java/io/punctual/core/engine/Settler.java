package io.punctual.core.engine;

import io.punctual.core.queue.Bucket;
import io.punctual.core.queue.LogFields;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Settled;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.StoreException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the ends of attempts of one bucket, in groups. While the store is away they are kept and
 * sent again: a lost ack would be work done twice. Memory stays bounded, since the scanner claims
 * no more jobs while {@link #full}.
 */
final class Settler {

  private static final Logger log = LoggerFactory.getLogger(Settler.class);
  private static final int FULL = 10_000;

  private final Bucket bucket;
  private final Context context;
  private final LeaseKeeper keeper;
  private final Doorbell bell;
  private final QueueListener listener;
  private final Backoff backoff;
  private final GroupCommit<Entry> commit;

  private record Entry(
      Settlement settlement,
      @Nullable OpenDelivery delivery,
      @Nullable RepeatCause cause,
      CompletableFuture<Void> stored) {}

  Settler(
      Bucket bucket, Context context, LeaseKeeper keeper, Doorbell bell, QueueListener listener) {
    this.bucket = bucket;
    this.context = context;
    this.keeper = keeper;
    this.bell = bell;
    this.listener = listener;
    // Back before anybody may expire the leases, see Contact.
    this.backoff = new Backoff(Duration.ofMillis(50), context.options().lease().dividedBy(10));
    this.commit =
        new GroupCommit<>(
            context.threads(),
            JobStore.MAX_JOBS,
            Long.MAX_VALUE,
            entry -> 0,
            this::write,
            this::drop);
  }

  /**
   * Writes the end of an open delivery.
   *
   * @param cause why the job goes out again if it does; null if nothing ran
   */
  void end(
      OpenDelivery delivery,
      Settlement settlement,
      @Nullable RepeatCause cause,
      CompletableFuture<Void> stored) {
    add(new Entry(settlement, delivery, cause, stored));
  }

  /** Writes a settlement that closes no delivery. */
  void send(Settlement settlement, CompletableFuture<Void> stored) {
    add(new Entry(settlement, null, null, stored));
  }

  /**
   * Has the lease of an open delivery last as long as ever, or as given if that is longer, or sees
   * that it is lost. Blocks.
   */
  void renew(OpenDelivery delivery, Duration atLeast) {
    keeper.renew(delivery, atLeast);
  }

  /**
   * Leaves an open delivery to its lease, once that lasts long enough.
   *
   * @param until monotonic ns
   */
  void defer(OpenDelivery delivery, long until, CompletableFuture<Void> stored) {
    context.threads().run(() -> tryToDefer(delivery, until, stored));
  }

  private void tryToDefer(OpenDelivery delivery, long until, CompletableFuture<Void> stored) {
    try {
      keeper.renew(delivery, Duration.ofNanos(Math.max(0, until - context.now())));
    } catch (StoreException e) {
      // It is kept alive as before meanwhile, as far as the store lets us.
      context.outages().failedOnDemand(this, bucket, e);
      context
          .threads()
          .runAfter(
              e.kind() == StoreException.Kind.CORRUPT
                  ? Scanner.QUARANTINE.toNanos()
                  : backoff.next(ThreadLocalRandom.current()),
              () -> tryToDefer(delivery, until, stored));
      return;
    } catch (RuntimeException e) {
      LogFields.of(log.atError(), bucket.queue(), delivery.taskId())
          .log("Job {} is left to its lease, it could not be deferred", delivery.taskId(), e);
      keeper.closed(delivery);
      stored.completeExceptionally(e);
      return;
    }
    delivery.tell(listener);
    keeper.closed(delivery);
    stored.complete(null);
  }

  /** Whether so much waits that no more jobs may be taken. */
  boolean full() {
    return commit.size() >= FULL;
  }

  /** Drops what is not written yet. */
  void close() {
    commit.close();
  }

  private void add(Entry entry) {
    if (!commit.add(entry)) {
      drop(List.of(entry));
    }
  }

  private long write(List<Entry> group) {
    try {
      boolean full = full();
      List<Settled> settled =
          context.jobs().settle(bucket, group.stream().map(Entry::settlement).toList());
      context.contact().answered(context.now());
      context.outages().answered(this, bucket);
      backoff.reset();
      Tally tally = new Tally(bucket.queue(), listener);
      for (int i = 0; i < group.size(); i++) {
        count(tally, group.get(i), settled.get(i));
      }
      tally.tell();
      for (int i = 0; i < group.size(); i++) {
        close(group.get(i), settled.get(i));
      }
      if (full) {
        bell.room();
      }
      bell.ended();
      return 0;
    } catch (StoreException e) {
      context.outages().failed(this, bucket, e);
      return e.kind() == StoreException.Kind.CORRUPT
          ? Scanner.QUARANTINE.toNanos()
          : backoff.next(ThreadLocalRandom.current());
    } catch (RuntimeException e) {
      return separate(group, e);
    }
  }

  // Something in the group breaks the call. One by one, so that it takes no other with it.
  private long separate(List<Entry> group, RuntimeException e) {
    if (group.size() > 1) {
      for (Entry entry : group) {
        if (write(List.of(entry)) > 0) {
          add(entry);
        }
      }
      return 0;
    }
    Entry entry = group.get(0);
    LogFields.of(log.atError(), bucket.queue(), entry.settlement().taskId())
        .setCause(e)
        .log(
            "The end of an attempt of {} in {} could not be written; its lease will run out",
            entry.settlement().taskId(),
            bucket);
    forget(entry);
    entry.stored().completeExceptionally(e);
    return 0;
  }

  private void count(Tally tally, Entry entry, Settled settled) {
    OpenDelivery delivery = entry.delivery();
    if (settled.kind() != Settled.Kind.LOST || delivery == null || delivery.tellsLossAtEnd()) {
      tally.add(entry.settlement(), settled);
    }
    Settlement.Op op = entry.settlement().op();
    if (delivery != null && op != Settlement.Op.UNDELIVERABLE && op != Settlement.Op.RETURN) {
      delivery.tell(listener);
    }
  }

  private void close(Entry entry, Settled settled) {
    if (settled.kind() == Settled.Kind.RETRY) {
      bell.head(settled.at());
      RepeatCause cause = entry.cause();
      if (cause != null) {
        listener.repeated(cause, 1);
      }
    }
    forget(entry);
    entry.stored().complete(null);
  }

  private void drop(List<Entry> entries) {
    for (Entry entry : entries) {
      forget(entry);
      entry
          .stored()
          .completeExceptionally(
              new CancellationException("the engine was closed before the store had it"));
    }
  }

  private void forget(Entry entry) {
    if (entry.delivery() != null) {
      keeper.closed(entry.delivery());
    }
  }

  @Override
  public String toString() {
    return bucket.toString();
  }
}
