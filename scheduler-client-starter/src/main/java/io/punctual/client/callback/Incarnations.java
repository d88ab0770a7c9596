package io.punctual.client.callback;

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

  record Decision(Verdict verdict, CompletableFuture<CallbackResult> result) {}

  private record Seen(int attempt, CompletableFuture<CallbackResult> result) {}

  private final Map<String, Seen> entries =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Seen> eldest) {
          return size() > MAX && eldest.getValue().result().isDone();
        }
      };

  synchronized Decision decide(String incarnation, int attempt) {
    Seen entry = entries.get(incarnation);
    if (entry != null) {
      if (attempt < entry.attempt()) {
        return new Decision(Verdict.STALE, new CompletableFuture<>());
      }
      if (!entry.result().isDone() || isDone(entry.result().join())) {
        // The newest number counts from now on, also while the older attempt goes on running.
        entries.put(incarnation, new Seen(attempt, entry.result()));
        return new Decision(Verdict.SHARE, entry.result());
      }
    }
    Seen fresh = new Seen(attempt, new CompletableFuture<>());
    entries.remove(incarnation);
    entries.put(incarnation, fresh);
    return new Decision(Verdict.RUN, fresh.result());
  }

  private static boolean isDone(CallbackResult result) {
    return result.outcome().equals(CallbackResult.DONE);
  }
}
