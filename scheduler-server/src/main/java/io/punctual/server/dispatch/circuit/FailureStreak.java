package io.punctual.server.dispatch.circuit;

import java.util.HashSet;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Deliveries that failed, one after the other, without one that succeeded.
 *
 * <p>A worker that says no speaks of the job. One of which nothing is heard speaks of itself: when
 * it dies or hangs, all that it had is lost in the same moment, be it thousands. So lost answers of
 * one instance count as one, until every instance that the jobs go to has lost one.
 */
final class FailureStreak {

  private final Set<String> unknownAt = new HashSet<>();
  private int known;
  private int unknown;

  /**
   * Another one failed.
   *
   * @param isKnown whether the instance said so
   */
  synchronized void add(String instance, boolean isKnown) {
    if (isKnown) {
      known++;
    } else {
      unknownAt.add(instance);
      unknown++;
    }
  }

  synchronized boolean isEmpty() {
    return known + unknown == 0;
  }

  synchronized void clear() {
    unknownAt.clear();
    known = 0;
    unknown = 0;
  }

  /**
   * How many failures these are.
   *
   * @param serving the ids of the instances that the jobs go to now
   */
  synchronized int length(Supplier<Set<String>> serving) {
    boolean each = unknown == unknownAt.size() || unknownAt.containsAll(serving.get());
    return known + (each ? unknown : unknownAt.size());
  }
}
