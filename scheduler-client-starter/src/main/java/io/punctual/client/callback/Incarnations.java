package io.punctual.client.callback;

import io.punctual.client.lease.JobLease;
import io.punctual.client.lease.LeaseRelay;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Remembers, for a bounded number of jobs, what became of them here: so that a delivery which is
 * repeated because its answer was lost is answered without running the job twice, and an attempt
 * that was given up on cannot start after its successor.
 */
final class Incarnations {

  private static final int MAX = 10_000;

  /** What to do with a delivery. */
  enum Verdict {
    /** New here: run it and complete the future. */
    RUN,
    /** Running, or done: the future has or gets its result. */
    SHARE,
    /** Older than one that was seen already. */
    STALE
  }

  /**
   * What to do.
   *
   * @param lease of the run that the future belongs to; it follows the newest delivery
   */
  record Decision(Verdict verdict, CompletableFuture<CallbackResult> result, LeaseRelay lease) {}

  /** An incarnation tells apart jobs of one id only. */
  private record Key(String taskType, String taskId, String incarnation) {}

  private record Seen(int attempt, CompletableFuture<CallbackResult> result, LeaseRelay lease) {}

  private final Map<Key, Seen> entries =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, Seen> eldest) {
          return size() > MAX && eldest.getValue().result().isDone();
        }
      };

  synchronized Decision decide(CallbackRequest.Job job, JobLease lease) {
    Key key = new Key(job.taskType(), job.taskId(), job.incarnation());
    int attempt = job.attempt();
    Seen entry = entries.get(key);
    if (entry != null) {
      if (attempt < entry.attempt()) {
        return new Decision(Verdict.STALE, new CompletableFuture<>(), entry.lease());
      }
      if (!entry.result().isDone() || isDone(entry.result().join())) {
        // The newest number counts from now on, also while the older attempt goes on running.
        entries.put(key, new Seen(attempt, entry.result(), entry.lease()));
        return new Decision(Verdict.SHARE, entry.result(), entry.lease());
      }
    }
    LeaseRelay relay = new LeaseRelay(lease);
    Seen fresh = new Seen(attempt, new CompletableFuture<>(), relay);
    var unused = fresh.result().whenComplete((result, error) -> relay.release());
    entries.remove(key);
    entries.put(key, fresh);
    return new Decision(Verdict.RUN, fresh.result(), fresh.lease());
  }

  private static boolean isDone(CallbackResult result) {
    return result.outcome().equals(CallbackResult.DONE);
  }
}
