package io.punctual.core.deliver;

import io.punctual.core.QueueListener;
import io.punctual.core.RepeatCause;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.LogFields;
import io.punctual.core.recovery.Outages;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Settled;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.StoreException;
import io.punctual.core.wake.Capacity;
import io.punctual.core.wake.WakeSignal;
import io.punctual.core.work.Backoff;
import io.punctual.core.work.Context;
import io.punctual.core.work.GroupCommit;
import io.punctual.core.work.Refusals;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the ends of attempts of one bucket, in groups.
 *
 * <p>The ends of this engine's own deliveries are kept while the store is away, and sent again: a
 * lost acknowledgement would be work done twice. Memory stays bounded, since {@link Capacity} lets
 * nothing be claimed beyond a number of them. What a caller says by a token is told at once if it
 * fails: the caller repeats it, and has the lease to fall back on.
 */
public final class Settler {

  private static final Logger log = LoggerFactory.getLogger(Settler.class);

  private final Bucket bucket;
  private final Context context;
  private final LeaseKeeper keeper;
  private final Capacity.Claimer capacity;
  private final WakeSignal signal;
  private final QueueListener listener;
  private final Backoff backoff;
  private final GroupCommit<Entry> commit;

  /**
   * @param delivery what it closes; null for none
   * @param cause why the job goes out again if it does; null if nothing ran
   * @param kept whether it is sent again after a failure, else the failure is told
   */
  private record Entry(
      Settlement settlement,
      @Nullable OpenDelivery delivery,
      @Nullable RepeatCause cause,
      boolean kept,
      CompletableFuture<Settled> answer) {}

  public Settler(
      Bucket bucket,
      Context context,
      LeaseKeeper keeper,
      Capacity.Claimer capacity,
      WakeSignal signal,
      QueueListener listener) {
    this.bucket = bucket;
    this.context = context;
    this.keeper = keeper;
    this.capacity = capacity;
    this.signal = signal;
    this.listener = listener;
    // Back before anybody may expire the leases, see Contact.
    this.backoff = new Backoff(Duration.ofMillis(50), context.options().lease().dividedBy(10));
    this.commit =
        new GroupCommit<>(
            "Writing the ends of attempts of " + bucket,
            context.threads(),
            context.defects(),
            JobStore.MAX_JOBS,
            Long.MAX_VALUE,
            entry -> 0,
            this::write,
            this::drop);
  }

  /**
   * Writes the end of an open delivery, and closes it once the store has it.
   *
   * @param cause why the job goes out again if it does; null if nothing ran
   */
  public CompletableFuture<Settled> end(
      OpenDelivery delivery, Settlement settlement, @Nullable RepeatCause cause) {
    return add(new Entry(settlement, delivery, cause, true, new CompletableFuture<>()));
  }

  /** Writes a settlement that closes no delivery, as often as it takes. */
  public CompletableFuture<Settled> keep(Settlement settlement) {
    return add(new Entry(settlement, null, null, true, new CompletableFuture<>()));
  }

  /**
   * Writes a settlement for a caller who repeats it where need be.
   *
   * @return completes exceptionally with a {@link StoreException} if the store did not take it
   */
  public CompletableFuture<Settled> settle(Settlement settlement) {
    RepeatCause cause = settlement.op() == Settlement.Op.FAILED ? RepeatCause.FAILED : null;
    return add(new Entry(settlement, null, cause, false, new CompletableFuture<>()));
  }

  /** How many ends wait for the store. */
  public int size() {
    return commit.size();
  }

  /** Drops what is not written yet. */
  public void close() {
    commit.close();
  }

  private CompletableFuture<Settled> add(Entry entry) {
    if (entry.kept()) {
      capacity.ending(1);
    }
    if (!(entry.kept() ? commit.add(entry) : commit.addUrgent(entry))) {
      drop(List.of(entry), null);
    }
    return entry.answer();
  }

  private GroupCommit.@Nullable Again<Entry> write(List<Entry> group) {
    List<Settled> settled;
    try {
      settled = context.jobs().settle(bucket, group.stream().map(Entry::settlement).toList());
    } catch (StoreException e) {
      return refused(group, e);
    } catch (RuntimeException | Error e) {
      return separate(group, e);
    }
    backoff.reset();
    // The store has it: whatever happens from here on, it is not sent again.
    for (int i = 0; i < group.size(); i++) {
      if (settled.get(i).kind() == Settled.Kind.RETRY) {
        signal.head(settled.get(i).at());
      } else if (settled.get(i).successor() > 0) {
        signal.head(settled.get(i).successor());
      } else if (group.get(i).settlement().op() == Settlement.Op.EXPIRED) {
        // It may have taken the place of one that can start.
        signal.ask();
      }
    }
    try {
      tell(group, settled);
    } catch (RuntimeException | Error e) {
      context.defects().met("Counting the ends of attempts of " + bucket, e);
    }
    // Only now: a stop waits for open deliveries, and their ends must be counted by then.
    group.forEach(this::forget);
    capacity.ended(group.size());
    for (int i = 0; i < group.size(); i++) {
      group.get(i).answer().complete(settled.get(i));
    }
    return null;
  }

  private void tell(List<Entry> group, List<Settled> settled) {
    OutcomeCounts tally = new OutcomeCounts(bucket.queue(), listener);
    for (int i = 0; i < group.size(); i++) {
      Entry entry = group.get(i);
      OpenDelivery delivery = entry.delivery();
      if (settled.get(i).kind() != Settled.Kind.LEASE_LOST
          || delivery == null
          || delivery.tellsLossAtEnd()) {
        tally.add(entry.settlement(), settled.get(i));
      }
      Settlement.Op op = entry.settlement().op();
      if (delivery != null && op != Settlement.Op.UNDELIVERABLE && op != Settlement.Op.RETURNED) {
        delivery.tell(listener);
      }
      RepeatCause cause = entry.cause();
      if (settled.get(i).kind() == Settled.Kind.RETRY && cause != null) {
        listener.repeated(cause, 1);
      }
    }
    tally.tell();
  }

  private GroupCommit.@Nullable Again<Entry> refused(List<Entry> group, StoreException e) {
    List<Entry> kept = group.stream().filter(Entry::kept).toList();
    group.stream()
        .filter(entry -> !entry.kept())
        .forEach(entry -> entry.answer().completeExceptionally(e));
    return kept.isEmpty()
        ? null
        : new GroupCommit.Again<>(
            kept,
            e.kind() == StoreException.Kind.CORRUPT
                ? Outages.QUARANTINE.toNanos()
                : backoff.next(ThreadLocalRandom.current()));
  }

  // Something in the group breaks the call. One by one, so that it takes no other with it.
  private GroupCommit.@Nullable Again<Entry> separate(List<Entry> group, Throwable e) {
    if (group.size() > 1) {
      List<Entry> again = new ArrayList<>();
      long wait = 0;
      for (Entry entry : group) {
        var left = write(List.of(entry));
        if (left != null) {
          again.addAll(left.items());
          wait = Math.max(wait, left.nanos());
        }
      }
      return again.isEmpty() ? null : new GroupCommit.Again<>(again, wait);
    }
    Entry entry = group.get(0);
    if (e instanceof VirtualMachineError && entry.kept()) {
      // Not by this entry: there was no memory, for instance.
      context.defects().met("Writing the ends of attempts of " + bucket, e);
      return new GroupCommit.Again<>(group, backoff.next(ThreadLocalRandom.current()));
    }
    LogFields.of(log.atError(), bucket.queue(), entry.settlement().taskId())
        .setCause(e)
        .log(
            "The end of an attempt of {} in {} could not be written; its lease will run out",
            entry.settlement().taskId(),
            bucket);
    forget(entry);
    entry.answer().completeExceptionally(e);
    return null;
  }

  private void drop(List<Entry> entries, @Nullable Throwable why) {
    for (Entry entry : entries) {
      forget(entry);
      if (!entry.answer().isDone()) {
        entry.answer().completeExceptionally(why != null ? why : closed(entry));
      }
    }
  }

  private static RuntimeException closed(Entry entry) {
    return entry.kept()
        ? new CancellationException("the engine was closed before the store had it")
        : Refusals.closed();
  }

  private void forget(Entry entry) {
    if (entry.kept()) {
      capacity.written(1);
    }
    if (entry.delivery() != null) {
      keeper.closed(entry.delivery());
    }
  }

  @Override
  public String toString() {
    return bucket.toString();
  }
}
