package io.punctual.systemtest;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What became of every job, from the submitter's and the workers' own records: nobody else is
 * asked. The sums are those of Jepsen's total-queue checker, with due times and causes added.
 *
 * @param accepted how many were acknowledged
 * @param unknown how many submits had no clear answer
 * @param recovered ids among these that ran all the same, which is allowed
 * @param lost acknowledged, and neither done nor settled otherwise
 * @param unexpected run, and never submitted
 * @param early begun before the due time, the newest acknowledged one where it was moved
 * @param cancelled begun after a cancel was acknowledged
 * @param outdated begun with another content than the newest acknowledged one or one that has no
 *     clear answer
 * @param overlapping begun again while another run was still going on in a living worker that had
 *     not overrun its time, and whose claim nothing made Redis forget
 * @param repeated begun more than once, for whatever reason
 * @param causes of the repeats: how many further runs each kind of fault, the worker's own failure,
 *     or that it overran its time, explains
 * @param unexplained begun once more though the run before ended well and nothing was broken then
 *     that had it in its hands, or more often than things were broken
 */
public record Accounting(
    int accepted,
    int unknown,
    Set<String> recovered,
    Set<String> lost,
    Set<String> unexpected,
    Set<String> early,
    Set<String> cancelled,
    Set<String> outdated,
    Set<String> overlapping,
    Set<String> repeated,
    Map<String, Integer> causes,
    Set<String> unexplained) {

  private static final String FAILED = "the worker said that it failed";
  private static final String OVERRAN = "the job's time was over before its end";

  /**
   * Adds up.
   *
   * @param faults in the order in which they happened
   */
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
    history
        .changes()
        .forEach(
            (id, changes) -> {
              if (!changes.mustRun()) {
                lost.remove(id);
              }
            });
    Set<String> early = new TreeSet<>();
    Set<String> cancelled = new TreeSet<>();
    Set<String> outdated = new TreeSet<>();
    Set<String> overlapping = new TreeSet<>();
    Set<String> repeated = new TreeSet<>();
    Map<String, Integer> causes = new TreeMap<>();
    Set<String> unexplained = new TreeSet<>();
    byId.forEach(
        (id, runs) -> {
          runs.sort(Comparator.comparingLong(Execution::begin));
          JobChanges changes = history.changesOf(id);
          if (runs.stream().anyMatch(run -> settles(run, changes, faults))) {
            lost.remove(id);
          }
          Long due = history.attempted().get(id);
          if (due != null && runs.get(0).begin() < due * 1000) {
            early.add(id);
          }
          if (changes != null) {
            for (Execution run : runs) {
              if (faults.stream().anyMatch(fault -> fault.delayedDelivery(run))) {
                continue;
              }
              Set<Integer> versions = changes.versionsAt(run.begin());
              if (versions.isEmpty()) {
                cancelled.add(id);
              } else if (!versions.contains(run.version())) {
                outdated.add(id);
              }
              if (run.begin() < changes.dueAt(run.begin()) * 1000) {
                early.add(id);
              }
            }
          }
          if (runs.size() > 1) {
            repeated.add(id);
          }
          if (overlap(history, runs, faults)) {
            overlapping.add(id);
          }
          if (!explained(runs, changes, history.limit(id), faults, causes)) {
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
        cancelled,
        outdated,
        overlapping,
        repeated,
        causes,
        unexplained);
  }

  /**
   * Whether nothing more is to be run of a job after that run. It has the newest content, or its
   * end was not heard: then a revision was acknowledged after it, and the end may have counted
   * late.
   */
  private static boolean settles(Execution run, @Nullable JobChanges changes, List<Fault> faults) {
    return run.done()
        && (changes == null
            || changes.maySettle(run.version())
            || (changes.belongsToTheLast(run.version())
                && during(run, faults).stream().anyMatch(fault -> fault.repeats(Long.MAX_VALUE))));
  }

  private static boolean overlap(History history, List<Execution> runs, List<Fault> faults) {
    for (int i = 1; i < runs.size(); i++) {
      Execution next = runs.get(i);
      JobChanges changes = history.changesOf(next.taskId());
      if (runs.subList(0, i).stream()
          .anyMatch(
              run ->
                  run.end() != null
                      && next.begin() < run.end()
                      && !history.overran(run)
                      && faults.stream().noneMatch(fault -> fault.forgets(run))
                      && !(changes != null && changes.renewed(run, next)))) {
        return true;
      }
    }
    return false;
  }

  /** Each further run needs a cause of its own. */
  private static boolean explained(
      List<Execution> runs,
      @Nullable JobChanges changes,
      long limit,
      List<Fault> faults,
      Map<String, Integer> causes) {
    Set<Fault> used = Collections.newSetFromMap(new IdentityHashMap<>());
    for (int i = 1; i < runs.size(); i++) {
      Execution before = runs.get(i - 1);
      if (before.ending() == Execution.Ending.FAILED) {
        causes.merge(FAILED, 1, Integer::sum);
        continue;
      }
      Execution next = runs.get(i);
      if (changes != null && changes.renewed(before, next)) {
        continue;
      }
      if (timeOver(before, next, limit)) {
        causes.merge(OVERRAN, 1, Integer::sum);
        continue;
      }
      Optional<Fault> cause =
          Stream.concat(
                  during(before, faults).stream().filter(fault -> fault.repeats(limit)),
                  faults.stream().filter(fault -> fault.heldUp(next, limit)))
              .filter(fault -> fault.from() <= next.begin() && !used.contains(fault))
              .findFirst();
      if (cause.isEmpty()) {
        return false;
      }
      used.add(cause.get());
      causes.merge(cause.get().what(), 1, Integer::sum);
    }
    return true;
  }

  /** Whether a run was still going on, or its worker had died, when its time was over. */
  private static boolean timeOver(Execution run, Execution next, long limit) {
    return (run.end() == null || run.lasted(limit)) && next.begin() - Fault.sent(run) > limit;
  }

  /** The faults that broke what had a run in its hands while it was under way, in their order. */
  private static List<Fault> during(Execution run, List<Fault> faults) {
    List<Fault> during = new ArrayList<>();
    long answered = Fault.answered(run);
    for (Fault fault : faults) {
      if (fault.meets(run, answered)) {
        during.add(fault);
        answered = fault.delayed(answered);
      }
    }
    return during;
  }

  /**
   * How many runs were under way when something broke that can make them run once more, by what
   * broke: no more can have run once more because of it.
   */
  public static Map<String, Integer> underWay(
      History history, Collection<Execution> executions, List<Fault> faults) {
    Map<String, Integer> underWay = new TreeMap<>();
    for (Execution run : executions) {
      during(run, faults).stream()
          .filter(fault -> fault.repeats(history.limit(run.taskId())))
          .forEach(fault -> underWay.merge(fault.what(), 1, Integer::sum));
    }
    return underWay;
  }

  /** How many further runs have another cause than that the worker said that it failed. */
  public int furtherUnasked() {
    return causes.entrySet().stream()
        .filter(cause -> !cause.getKey().equals(FAILED))
        .mapToInt(Map.Entry::getValue)
        .sum();
  }

  /** The runs of what is wrong, to see from them what happened. */
  public String evidence(Collection<Execution> executions) {
    Set<String> wrong = wrong();
    return executions.stream()
        .filter(run -> wrong.contains(run.taskId()))
        .sorted(Comparator.comparing(Execution::taskId).thenComparing(Execution::begin))
        .limit(20)
        .map(Execution::toString)
        .collect(Collectors.joining("\n"));
  }

  /** Returns the ids of jobs of which anything is wrong. */
  public Set<String> wrong() {
    Set<String> wrong = new TreeSet<>();
    Stream.of(lost, unexpected, early, cancelled, outdated, overlapping, unexplained)
        .forEach(wrong::addAll);
    return wrong;
  }

  /** Whether nothing is wrong. Repeats with a cause are for the caller to judge. */
  public boolean sound() {
    return wrong().isEmpty();
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
        + ", cancelled "
        + some(cancelled)
        + ", outdated "
        + some(outdated)
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
