package io.punctual.systemtest;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What a submitter saw.
 *
 * @param attempted due times, epoch ms, by id, of all that was sent, answered or not
 * @param acknowledged ids that the scheduler said it has
 * @param settled ids that need not have been done: cancelled, or dead letters, as the scheduler
 *     answered
 * @param timesToRun by id, of the jobs that came with one
 * @param changes by id, of the jobs that were changed: all calls in their order
 */
public record History(
    Map<String, Long> attempted,
    Set<String> acknowledged,
    Set<String> settled,
    Map<String, Duration> timesToRun,
    Map<String, JobChanges> changes) {

  /** Copies what it gets. */
  public History {
    attempted = Map.copyOf(attempted);
    acknowledged = Set.copyOf(acknowledged);
    settled = Set.copyOf(settled);
    timesToRun = Map.copyOf(timesToRun);
    changes = Map.copyOf(changes);
    if (!attempted.keySet().containsAll(acknowledged)) {
      throw new IllegalArgumentException("acknowledged without having been attempted");
    }
  }

  /** What was seen of jobs that were never changed. */
  public History(
      Map<String, Long> attempted,
      Set<String> acknowledged,
      Set<String> settled,
      Map<String, Duration> timesToRun) {
    this(attempted, acknowledged, settled, timesToRun, Map.of());
  }

  /**
   * What was seen of jobs that were changed.
   *
   * @param calls by id, in their order
   */
  public static History of(Map<String, List<Change>> calls) {
    Map<String, JobChanges> changes = new HashMap<>();
    calls.forEach((id, made) -> changes.put(id, new JobChanges(made)));
    Map<String, Long> attempted = new HashMap<>();
    Set<String> acknowledged = new HashSet<>();
    changes.forEach(
        (id, job) -> {
          attempted.put(id, job.firstDue());
          if (job.acknowledged()) {
            acknowledged.add(id);
          }
        });
    return new History(attempted, acknowledged, Set.of(), Map.of(), changes);
  }

  @Nullable JobChanges changesOf(String taskId) {
    return changes.get(taskId);
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
