package io.punctual.systemtest.linearizability;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Decides whether a history is linearizable: whether each operation can have happened at one
 * instant between its invocation and its answer, so that one after the other they are a run of the
 * model. An operation without an answer may have happened at any time from its invocation on, or
 * not at all.
 *
 * <p>A depth-first search over the operations that can be next, which remembers where it was: Wing
 * and Gong, Testing and Verifying Concurrent Objects (1993), with the memory of Lowe, Testing for
 * Linearizability (2017). Histories are those of one job id each, which suffices since
 * linearizability is local (Herlihy and Wing 1990; P-compositionality, Horn and Kroening 2015).
 * Beyond these, steps can take the clock with them: each operation happens as early as it can, no
 * earlier than those before it, which loses nothing since nothing in a model must happen before a
 * time.
 */
final class Checker<S> {

  /** More steps than any history of these tests needs, and less than the memory of their JVM. */
  static final int MOST_STEPS = 3_000_000;

  private record Place(BitSet done, Object key) {}

  private record Visit<S>(S state, long now) {}

  private final Model<S> model;
  private final List<Operation> history;
  private final Map<Place, List<Visit<S>>> visits = new HashMap<>();
  private final BitSet done = new BitSet();
  private final List<Operation> order = new ArrayList<>();
  private List<Operation> longest = List.of();
  private int open;
  private final int mostSteps;
  private int visited;

  private Checker(Model<S> model, List<Operation> history, int mostSteps) {
    this.model = model;
    this.mostSteps = mostSteps;
    this.history = history.stream().sorted(Comparator.comparingLong(Operation::invoked)).toList();
    this.open = (int) history.stream().filter(operation -> !operation.open()).count();
  }

  /**
   * What was found.
   *
   * @param order in which the operations can have happened; where they cannot, the longest such
   *     beginning
   */
  record Verdict(boolean linearizable, List<Operation> order) {}

  /**
   * Decides.
   *
   * @throws IllegalStateException if that takes more steps
   */
  static <S> Verdict check(Model<S> model, List<Operation> history, int mostSteps) {
    Checker<S> checker = new Checker<>(model, history, mostSteps);
    boolean linearizable = checker.goesOn(model.initial(), Long.MIN_VALUE);
    return new Verdict(linearizable, checker.longest);
  }

  private boolean goesOn(S state, long now) {
    if (order.size() > longest.size() || open == 0) {
      longest = List.copyOf(order);
    }
    if (open == 0) {
      return true;
    }
    if (wasHere(state, now)) {
      return false;
    }
    long latest = latest();
    List<Integer> candidates = candidates(latest);
    // One that changes neither state nor clock, here or elsewhere, might as well be the next.
    for (int candidate : candidates) {
      if (history.get(candidate).changedNothing()) {
        for (Model.Step<S> step : steps(candidate, state, now)) {
          if (step.state().equals(state) && step.notBefore() <= now) {
            return takes(candidate, step, now, latest);
          }
        }
      }
    }
    // What is known to have happened comes first: mostly it leads to the end.
    for (boolean unanswered : new boolean[] {false, true}) {
      for (int candidate : candidates) {
        if (history.get(candidate).open() == unanswered && leadsOn(candidate, state, now, latest)) {
          return true;
        }
      }
    }
    for (Model.Step<S> step : model.silentSteps(state, now)) {
      long when = Math.max(now, step.notBefore());
      if (when <= latest && goesOn(step.state(), when)) {
        return true;
      }
    }
    return false;
  }

  private boolean leadsOn(int candidate, S state, long now, long latest) {
    boolean unanswered = history.get(candidate).open();
    for (Model.Step<S> step : steps(candidate, state, now)) {
      // One without an answer that changes nothing need not have happened.
      boolean matters = !unanswered || !step.state().equals(state);
      if (matters && takes(candidate, step, now, latest)) {
        return true;
      }
    }
    return false;
  }

  private List<Model.Step<S>> steps(int candidate, S state, long now) {
    Operation operation = history.get(candidate);
    return model.steps(state, operation, Math.max(now, operation.invoked()));
  }

  private boolean takes(int candidate, Model.Step<S> step, long now, long latest) {
    long when = Math.max(now, step.notBefore());
    if (when > latest) {
      return false;
    }
    Operation operation = history.get(candidate);
    done.set(candidate);
    order.add(operation);
    open -= operation.open() ? 0 : 1;
    boolean found = goesOn(step.state(), when);
    open += operation.open() ? 0 : 1;
    order.remove(order.size() - 1);
    done.clear(candidate);
    return found;
  }

  /** Whether it was here before, no later than now, in a state that leaves as much. */
  private boolean wasHere(S state, long now) {
    Place place = new Place((BitSet) done.clone(), model.key(state));
    List<Visit<S>> before = visits.computeIfAbsent(place, key -> new ArrayList<>(1));
    for (Visit<S> visit : before) {
      if (visit.now <= now && model.covers(visit.state, state)) {
        return true;
      }
    }
    if (++visited > mostSteps) {
      throw new IllegalStateException(
          "undecided after " + mostSteps + " steps: " + history.size() + " operations");
    }
    before.add(new Visit<>(state, now));
    return false;
  }

  /** Until when the next operation must have happened: the first answer that is still to come. */
  private long latest() {
    long latest = Operation.NEVER;
    for (int i = done.nextClearBit(0); i < history.size(); i = done.nextClearBit(i + 1)) {
      latest = Math.min(latest, history.get(i).answered());
    }
    return latest;
  }

  /** What can be the next: nothing was answered before it was invoked. */
  private List<Integer> candidates(long latest) {
    List<Integer> candidates = new ArrayList<>();
    for (int i = done.nextClearBit(0); i < history.size(); i = done.nextClearBit(i + 1)) {
      if (history.get(i).invoked() > latest) {
        break;
      }
      candidates.add(i);
    }
    return candidates;
  }
}
