package io.punctual.systemtest.linearizability;

import org.jspecify.annotations.Nullable;

/**
 * Something that happened to a job at one instant between two instants.
 *
 * @param client that saw it
 * @param answer null where none came: it may have happened, at any time from then on, or not
 * @param invoked epoch µs before which it had certainly not happened
 * @param answered epoch µs by which it had certainly happened; {@link #NEVER} without an answer
 */
record Operation(
    String client,
    String taskId,
    Action action,
    @Nullable Answer answer,
    long invoked,
    long answered) {

  /** Later than all times. */
  static final long NEVER = Long.MAX_VALUE;

  /** Whether it is not known if it happened. */
  boolean open() {
    return answer == null;
  }

  /** The same, without its answer. */
  Operation opened() {
    return new Operation(client, taskId, action, null, invoked, NEVER);
  }

  boolean answered(Answer.Outcome outcome) {
    return answer != null && answer.outcome() == outcome;
  }

  /** Whether it has certainly changed nothing, wherever it happened. */
  boolean changedNothing() {
    return answer != null && answer.outcome().changesNothing();
  }

  /**
   * A line for people.
   *
   * @param start epoch µs from which times are counted
   */
  String line(long start) {
    return "%9.1f %9s ms  %-12s %s  ->  %s"
        .formatted(
            (invoked - start) / 1000.0,
            open() ? "?" : "%.1f".formatted((answered - start) / 1000.0),
            client,
            action,
            answer == null ? "no answer" : answer);
  }
}
