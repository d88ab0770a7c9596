package io.punctual.systemtest.linearizability;

import java.util.List;

/** A sequential object: what each operation may do to each state. */
interface Model<S> {

  /**
   * A state that an operation may lead to.
   *
   * @param notBefore the earliest that it can happen, epoch µs
   */
  record Step<S>(S state, long notBefore) {}

  S initial();

  /**
   * Returns what the operation may lead to; nothing where it cannot have had its answer.
   *
   * @param at the earliest that it happens, epoch µs
   */
  List<Step<S>> steps(S state, Operation operation, long at);

  /** Returns that in which states must agree for one of them to cover the other. */
  Object key(S state);

  /** Whether all that can follow on the other state can follow on this one, too. */
  boolean covers(S state, S other);

  /**
   * Returns what may happen without any operation.
   *
   * @param at the earliest that it happens, epoch µs
   */
  List<Step<S>> silentSteps(S state, long at);
}
