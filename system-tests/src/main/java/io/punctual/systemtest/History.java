package io.punctual.systemtest;

import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * What a submitter saw.
 *
 * @param attempted due times, epoch ms, by id, of all that was sent, answered or not
 * @param acknowledged ids that the scheduler said it has
 * @param settled ids that need not have been done: cancelled, or dead letters, as the scheduler
 *     answered
 */
public record History(Map<String, Long> attempted, Set<String> acknowledged, Set<String> settled) {

  /** Copies what it gets. */
  public History {
    attempted = Map.copyOf(attempted);
    acknowledged = Set.copyOf(acknowledged);
    settled = Set.copyOf(settled);
    if (!attempted.keySet().containsAll(acknowledged)) {
      throw new IllegalArgumentException("acknowledged without having been attempted");
    }
  }

  /** Ids whose submit got no clear answer: they may be done or not. */
  public Set<String> unknown() {
    Set<String> unknown = new TreeSet<>(attempted.keySet());
    unknown.removeAll(acknowledged);
    return unknown;
  }
}
