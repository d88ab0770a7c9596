package io.punctual.systemtest;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What became of every job, from the submitter's and the workers' own records: nobody else is
 * asked. The sums are those of Jepsen's total-queue checker, with due times and causes added.
 *
 * @param accepted how many were acknowledged
 * @param unknown how many submits had no clear answer
 * @param recovered ids among these that ran all the same, which is allowed
 * @param lost acknowledged, and neither done nor settled otherwise
 * @param unexpected run, and never submitted
 * @param early begun before the due time
 * @param overlapping begun again while the run before was still going on in a living worker
 * @param repeated begun more than once, for whatever reason
 * @param causes of the repeats: how many further runs each kind of fault, or the worker's own
 *     failure, explains
 * @param unexplained begun once more though the run before ended well and nothing was broken then,
 *     or more often than things were broken
 */
public record Accounting(
    int accepted,
    int unknown,
    Set<String> recovered,
    Set<String> lost,
    Set<String> unexpected,
    Set<String> early,
    Set<String> overlapping,
    Set<String> repeated,
    Map<String, Integer> causes,
    Set<String> unexplained) {

  /** Adds up. */
  public static Accounting of(
      History history, Collection<Execution> executions, List<Fault> faults) {
    Map<String, List<Execution>> byId = new TreeMap<>();
    for (Execution execution : executions) {
      byId.computeIfAbsent(execution.taskId(), id -> new ArrayList<>()).add(execution);
    }
    Set<String> unexpected = new TreeSet<>(byId.keySet());
    unexpected.removeAll(history.attempted().keySet());
    Set<String> recovered = new TreeSet<>(byId.keySet());
    recovered.retainAll(history.unknown());
    Set<String> lost = new TreeSet<>(history.acknowledged());
    lost.removeAll(history.settled());
    Set<String> early = new TreeSet<>();
    Set<String> overlapping = new TreeSet<>();
    Set<String> repeated = new TreeSet<>();
    Map<String, Integer> causes = new TreeMap<>();
    Set<String> unexplained = new TreeSet<>();
    byId.forEach(
        (id, runs) -> {
          runs.sort(Comparator.comparingLong(Execution::begin));
          if (runs.stream().anyMatch(Execution::done)) {
            lost.remove(id);
          }
          Long due = history.attempted().get(id);
          if (due != null && runs.get(0).begin() < due * 1000) {
            early.add(id);
          }
          if (runs.size() > 1) {
            repeated.add(id);
          }
          if (overlap(runs)) {
            overlapping.add(id);
          }
          if (!explained(runs, faults, causes)) {
            unexplained.add(id);
          }
        });
    return new Accounting(
        history.acknowledged().size(),
        history.unknown().size(),
        recovered,
        lost,
        unexpected,
        early,
        overlapping,
        repeated,
        causes,
        unexplained);
  }

  private static boolean overlap(List<Execution> runs) {
    for (int i = 1; i < runs.size(); i++) {
      Long end = runs.get(i - 1).end();
      if (end != null && runs.get(i).begin() < end) {
        return true;
      }
    }
    return false;
  }

  /** Each further run needs a cause of its own. */
  private static boolean explained(
      List<Execution> runs, List<Fault> faults, Map<String, Integer> causes) {
    List<Fault> left = new ArrayList<>(faults);
    for (int i = 1; i < runs.size(); i++) {
      Execution before = runs.get(i - 1);
      if (before.ending() == Execution.Ending.FAILED) {
        causes.merge("the worker said that it failed", 1, Integer::sum);
        continue;
      }
      Optional<Fault> cause = left.stream().filter(f -> f.explainsRepeatOf(before)).findFirst();
      if (cause.isEmpty()) {
        return false;
      }
      left.remove(cause.get());
      causes.merge(cause.get().what(), 1, Integer::sum);
    }
    return true;
  }

  /** Whether nothing is wrong. Repeats with a cause are for the caller to judge. */
  public boolean sound() {
    return lost.isEmpty()
        && unexpected.isEmpty()
        && early.isEmpty()
        && overlapping.isEmpty()
        && unexplained.isEmpty();
  }

  @Override
  public String toString() {
    return accepted
        + " accepted, "
        + unknown
        + " unknown ("
        + recovered.size()
        + " of them ran), lost "
        + some(lost)
        + ", unexpected "
        + some(unexpected)
        + ", early "
        + some(early)
        + ", overlapping "
        + some(overlapping)
        + ", repeated "
        + some(repeated)
        + (causes.isEmpty() ? "" : " " + causes)
        + ", of these unexplained "
        + some(unexplained);
  }

  private static String some(Set<String> ids) {
    return ids.isEmpty() ? "0" : ids.size() + " " + ids.stream().limit(5).toList();
  }
}
