package io.punctual.systemtest;

import java.time.Duration;
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
 * @param timesToRun by id, of the jobs that came with one
 */
public record History(
    Map<String, Long> attempted,
    Set<String> acknowledged,
    Set<String> settled,
    Map<String, Duration> timesToRun) {

  /** Copies what it gets. */
  public History {
    attempted = Map.copyOf(attempted);
    acknowledged = Set.copyOf(acknowledged);
    settled = Set.copyOf(settled);
    timesToRun = Map.copyOf(timesToRun);
    if (!attempted.keySet().containsAll(acknowledged)) {
      throw new IllegalArgumentException("acknowledged without having been attempted");
    }
  }

  /**
   * How long a job may run, microseconds. One that came without a time to run may for longer than
   * any run here takes.
   */
  long limit(String taskId) {
    Duration limit = timesToRun.get(taskId);
    return limit == null ? Long.MAX_VALUE : limit.toNanos() / 1000;
  }

  /** Whether a run went on for longer than its job may; false for one without an end. */
  public boolean overran(Execution run) {
    return run.lasted(limit(run.taskId()));
  }

  /** Ids whose submit got no clear answer: they may be done or not. */
  public Set<String> unknown() {
    Set<String> unknown = new TreeSet<>(attempted.keySet());
    unknown.removeAll(acknowledged);
    return unknown;
  }
}
