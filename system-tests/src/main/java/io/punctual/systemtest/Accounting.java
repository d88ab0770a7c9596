package io.punctual.systemtest;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * What became of every job, from the submitter's and the workers' own records: nobody else is
 * asked.
 *
 * @param lost accepted, and never done
 * @param unexpected run, and never submitted
 * @param early begun before the due time
 * @param repeated begun more than once
 */
public record Accounting(
    int accepted,
    Set<String> lost,
    Set<String> unexpected,
    Set<String> early,
    Set<String> repeated) {

  /**
   * Adds up.
   *
   * @param attempted due times by id
   * @param acknowledged due times by id
   */
  public static Accounting of(
      Map<String, Long> attempted, Map<String, Long> acknowledged, List<Execution> executions) {
    Map<String, Integer> begun = new HashMap<>();
    Set<String> done = new TreeSet<>();
    Set<String> early = new TreeSet<>();
    Set<String> unexpected = new TreeSet<>();
    for (Execution execution : executions) {
      String id = execution.taskId();
      if (execution.done()) {
        done.add(id);
        continue;
      }
      begun.merge(id, 1, Integer::sum);
      Long due = attempted.get(id);
      if (due == null) {
        unexpected.add(id);
      } else if (execution.at() < due) {
        early.add(id);
      }
    }
    Set<String> lost = new TreeSet<>(acknowledged.keySet());
    lost.removeAll(done);
    Set<String> repeated = new TreeSet<>();
    begun.forEach(
        (id, times) -> {
          if (times > 1) {
            repeated.add(id);
          }
        });
    return new Accounting(acknowledged.size(), lost, unexpected, early, repeated);
  }

  /** Whether nothing was lost, early, or came from nowhere; repeats are for the caller to judge. */
  public boolean sound() {
    return lost.isEmpty() && unexpected.isEmpty() && early.isEmpty();
  }

  @Override
  public String toString() {
    return "%d accepted, %d lost %s, %d unexpected %s, %d early %s, %d repeated %s"
        .formatted(
            accepted,
            lost.size(),
            some(lost),
            unexpected.size(),
            some(unexpected),
            early.size(),
            some(early),
            repeated.size(),
            some(repeated));
  }

  private static List<String> some(Set<String> ids) {
    return ids.stream().limit(5).toList();
  }
}
