package io.punctual.client.run;

import io.punctual.client.lease.JobLease;
import io.punctual.client.lease.LeaseRelay;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the jobs that run here, and what became of a bounded number of those that ended. A
 * delivery that is repeated because its answer was lost is answered without running the job twice,
 * and an attempt that was given up on cannot start after its successor.
 */
final class Incarnations {

  private static final int MAX = 10_000;

  /** What to do with a delivery. */
  enum Verdict {
    /** New here: run it and complete the future. */
    RUN,
    /** Running, or done: the future has or gets its result. */
    SHARE,
    /** Older than one that was seen already, be it of other content. */
    STALE
  }

  /**
   * What to do.
   *
   * @param lease of the run that the future belongs to; it follows the newest delivery
   */
  record Decision(Verdict verdict, CompletableFuture<CallbackResult> result, LeaseRelay lease) {}

  /** An incarnation tells apart jobs of one id only. */
  private record Key(Id id, String incarnation) {}

  /** A task id, whatever its content. */
  private record Id(String taskType, String taskId) {}

  private record Newest(String incarnation, long version, long claimedAt) {

    static Newest of(CallbackRequest.Job job) {
      return new Newest(job.incarnation(), job.version(), job.claimedAt());
    }

    // Both must be smaller: the clock of Redis can be set back, and a Redis that came back older
    // counts versions again. Earlier schedulers send neither.
    boolean isNewerThan(CallbackRequest.Job job) {
      return job.version() > 0 && job.version() < version && job.claimedAt() < claimedAt;
    }
  }

  private record Seen(CompletableFuture<CallbackResult> result, LeaseRelay lease) {}

  private record Ended(Key key, CompletableFuture<CallbackResult> result) {}

  private final int most;
  private final Map<Key, Seen> entries = new HashMap<>();
  // The newest delivery of each id, for as long as its incarnation is remembered.
  private final Map<Id, Newest> newest = new HashMap<>();
  // In the order in which they ended: those that run are never forgotten.
  private final Set<Key> ended = new LinkedHashSet<>();
  // The jobs that ended since the last decision. Jobs that end at the same time need no lock.
  private final Queue<Ended> ending = new ConcurrentLinkedQueue<>();

  Incarnations() {
    this(MAX);
  }

  /**
   * @param most how many jobs that ended are remembered
   */
  Incarnations(int most) {
    this.most = most;
  }

  synchronized Decision decide(CallbackRequest.Job job, JobLease lease) {
    forget();
    Id id = new Id(job.taskType(), job.taskId());
    Key key = new Key(id, job.incarnation());
    Seen entry = entries.get(key);
    Newest before = newest.get(id);
    if (before != null && before.isNewerThan(job)) {
      return new Decision(Verdict.STALE, new CompletableFuture<>(), new LeaseRelay(lease));
    }
    newest.put(id, Newest.of(job));
    if (entry != null && (!entry.result().isDone() || isDone(entry.result().join()))) {
      // The newest delivery counts from now on, also while the older attempt goes on running.
      return new Decision(Verdict.SHARE, entry.result(), entry.lease());
    }
    LeaseRelay relay = new LeaseRelay(lease);
    Seen fresh = new Seen(new CompletableFuture<>(), relay);
    entries.put(key, fresh);
    ended.remove(key);
    var unused =
        fresh
            .result()
            .whenComplete(
                (result, error) -> {
                  relay.release();
                  ending.add(new Ended(key, fresh.result()));
                });
    return new Decision(Verdict.RUN, fresh.result(), fresh.lease());
  }

  /** Forgets those that ended first, if there are too many. */
  private void forget() {
    for (Ended one = ending.poll(); one != null; one = ending.poll()) {
      Seen entry = entries.get(one.key());
      // Else a later attempt is here by now.
      if (entry != null && entry.result() == one.result()) {
        ended.add(one.key());
      }
    }
    while (ended.size() > most) {
      Key eldest = ended.iterator().next();
      ended.remove(eldest);
      entries.remove(eldest);
      newest.computeIfPresent(
          eldest.id(), (id, last) -> last.incarnation().equals(eldest.incarnation()) ? null : last);
    }
  }

  /** Returns the lease of a run that has not ended; null if there is none. */
  synchronized @Nullable LeaseRelay running(String taskType, String taskId, String incarnation) {
    Seen entry = entries.get(new Key(new Id(taskType, taskId), incarnation));
    return entry == null || entry.result().isDone() ? null : entry.lease();
  }

  /** How many jobs are remembered, those that run among them. */
  synchronized int size() {
    forget();
    return entries.size();
  }

  private static boolean isDone(CallbackResult result) {
    return result.outcome().equals(CallbackResult.DONE);
  }
}
