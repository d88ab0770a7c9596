package io.punctual.systemtest.linearizability;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Judges the histories of many job ids, each by itself, and shows the shortest that is wrong. */
final class Histories {

  /** Stands for all job ids. */
  static final String ALL = "*";

  private static final int STEPS_TO_SHRINK = 5_000;

  private Histories() {}

  /**
   * A history that no job can have.
   *
   * @param contradiction operations that cannot all have been answered as they were
   * @param besides operations that may have happened between them or not, whatever they were
   *     answered
   */
  record Violation(String taskId, List<Operation> contradiction, List<Operation> besides) {

    @Override
    public String toString() {
      List<Operation> all = new ArrayList<>(contradiction);
      all.addAll(besides);
      all.sort(Comparator.comparingLong(Operation::invoked));
      long start = all.get(0).invoked();
      StringBuilder text = new StringBuilder("job " + taskId + " cannot have had this history:");
      for (Operation operation : all) {
        text.append('\n').append(operation.line(start));
        if (!contradiction.contains(operation)) {
          text.append("  (or not at all)");
        }
      }
      return text.toString();
    }
  }

  /**
   * Finds the shortest history among those of all job ids that is wrong.
   *
   * @param operations of all jobs; those of {@link #ALL} happened to each of them
   */
  static Optional<Violation> violation(List<Operation> operations, JobModel.Rules rules) {
    return taskIds(operations).stream()
        .map(id -> ofJob(operations, id))
        .filter(history -> !linearizable(history, rules))
        .map(history -> shrunk(history, rules))
        .min(Comparator.comparingInt(violation -> violation.contradiction().size()));
  }

  private static Set<String> taskIds(List<Operation> operations) {
    Set<String> ids = new TreeSet<>();
    operations.forEach(operation -> ids.add(operation.taskId()));
    ids.remove(ALL);
    return ids;
  }

  private static List<Operation> ofJob(List<Operation> operations, String id) {
    return operations.stream()
        .filter(operation -> operation.taskId().equals(id) || operation.taskId().equals(ALL))
        .sorted(Comparator.comparingLong(Operation::invoked))
        .toList();
  }

  static boolean linearizable(List<Operation> history, JobModel.Rules rules) {
    return linearizable(history, rules, Checker.MOST_STEPS);
  }

  private static boolean linearizable(List<Operation> history, JobModel.Rules rules, int steps) {
    return Checker.check(new JobModel(history, rules), history, steps).linearizable();
  }

  private static boolean isWrong(List<Operation> history, JobModel.Rules rules) {
    try {
      return !linearizable(history, rules, STEPS_TO_SHRINK);
    } catch (IllegalStateException e) {
      // It may be; a shorter one is not worth so many steps.
      return false;
    }
  }

  /**
   * Leaves out what does not matter. An operation whose answer does not matter is one that may as
   * well have had none: then it may have happened or not, so that what is left is wrong either way.
   */
  private static Violation shrunk(List<Operation> history, JobModel.Rules rules) {
    List<Operation> left = new ArrayList<>(history);
    boolean shorter = true;
    while (shorter) {
      shorter = false;
      // The last ones first: what comes behind the contradiction cannot matter.
      for (int i = left.size() - 1; i >= 0; i--) {
        Operation operation = left.get(i);
        if (!operation.open() && !isLoss(operation)) {
          left.set(i, operation.opened());
          if (isWrong(left, rules)) {
            shorter = true;
          } else {
            left.set(i, operation);
          }
        }
      }
    }
    List<Operation> contradiction = left.stream().filter(operation -> !operation.open()).toList();
    List<Operation> besides = new ArrayList<>();
    for (Operation operation : history) {
      if (!contradiction.contains(operation) && mayMatter(operation, contradiction)) {
        besides.add(operation);
      }
    }
    return new Violation(taskId(history), contradiction, besides);
  }

  // What Redis has lost is not for a client to know.
  private static boolean isLoss(Operation operation) {
    return operation.action() instanceof Action.Loss
        || operation.action() instanceof Action.Emptied;
  }

  private static boolean mayMatter(Operation operation, List<Operation> contradiction) {
    long last = contradiction.stream().mapToLong(Operation::answered).max().orElse(Long.MIN_VALUE);
    return !operation.changedNothing()
        && !(operation.action() instanceof Action.Find)
        && operation.invoked() <= last;
  }

  private static String taskId(List<Operation> history) {
    return history.stream()
        .map(Operation::taskId)
        .filter(id -> !id.equals(ALL))
        .findFirst()
        .orElse(ALL);
  }
}
