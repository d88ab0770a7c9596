package io.punctual.server.metrics;

import java.util.Map;
import java.util.TreeMap;

/**
 * The growth of the counters of a queue.
 *
 * @param counters by name, as in the API; empty where nothing is known
 * @param ms over how long; 0 where nothing is known
 */
public record Growth(Map<String, Long> counters, long ms) {

  static final Growth NONE = new Growth(Map.of(), 0);

  static Growth between(Map<String, Long> before, Map<String, Long> now, long ms) {
    Map<String, Long> grown = new TreeMap<>();
    now.forEach(
        (name, count) -> grown.put(name, Math.max(0, count - before.getOrDefault(name, 0L))));
    return new Growth(grown, ms);
  }

  /** Returns whether no counter grew. */
  boolean isNone() {
    return counters.values().stream().allMatch(count -> count == 0);
  }

  /** Returns by how much the counters grew together. */
  public long count(String... names) {
    long sum = 0;
    for (String name : names) {
      sum += counters.getOrDefault(name, 0L);
    }
    return sum;
  }

  /** Returns the rate of a counter; 0 where it is not known. */
  public double perSecond(String name) {
    return ms == 0 ? 0 : count(name) * 1_000.0 / ms;
  }
}
