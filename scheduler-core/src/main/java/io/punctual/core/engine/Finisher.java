package io.punctual.core.engine;

import io.punctual.core.queue.Bucket;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Settled;
import io.punctual.core.store.Settlement;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Writes what those say who pulled jobs of one bucket, or finish them later, in groups. A call that
 * fails fails exactly what was in it: whoever called has its answer to repeat, and the lease to
 * fall back on.
 */
final class Finisher {

  private final Bucket bucket;
  private final Context context;
  private final Doorbell bell;
  private final QueueListener listener;
  private final GroupCommit<Entry> commit;

  private record Entry(Settlement settlement, CompletableFuture<Settled> answer) {}

  Finisher(Bucket bucket, Context context, Doorbell bell, QueueListener listener) {
    this.bucket = bucket;
    this.context = context;
    this.bell = bell;
    this.listener = listener;
    this.commit =
        new GroupCommit<>(
            context.threads(),
            JobStore.MAX_JOBS,
            Long.MAX_VALUE,
            entry -> 0,
            this::write,
            this::drop);
  }

  CompletableFuture<Settled> settle(Settlement settlement) {
    Entry entry = new Entry(settlement, new CompletableFuture<>());
    if (!commit.add(entry)) {
      drop(List.of(entry));
    }
    return entry.answer();
  }

  void close() {
    commit.close();
  }

  private long write(List<Entry> group) {
    try {
      List<Settled> settled =
          context.jobs().settle(bucket, group.stream().map(Entry::settlement).toList());
      context.contact().answered(context.now());
      context.outages().answered(this, bucket);
      Tally tally = new Tally(bucket.queue(), listener);
      for (int i = 0; i < group.size(); i++) {
        tally.add(group.get(i).settlement(), settled.get(i));
      }
      tally.tell();
      for (int i = 0; i < group.size(); i++) {
        if (settled.get(i).kind() == Settled.Kind.RETRY) {
          bell.head(settled.get(i).at());
          if (group.get(i).settlement().op() == Settlement.Op.FAIL) {
            listener.repeated(RepeatCause.FAILED, 1);
          }
        }
        group.get(i).answer().complete(settled.get(i));
      }
      bell.ended();
    } catch (RuntimeException e) {
      if (context.outages().failedOnDemand(this, bucket, e)) {
        // Its scanner finds out when it is over; nobody may call here again.
        bell.ask();
      }
      group.forEach(entry -> entry.answer().completeExceptionally(e));
    }
    return 0;
  }

  private void drop(List<Entry> group) {
    group.forEach(entry -> entry.answer().completeExceptionally(Submitter.closed()));
  }

  @Override
  public String toString() {
    return bucket.toString();
  }
}
