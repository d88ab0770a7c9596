package io.punctual.systemtest.linearizability;

import io.punctual.systemtest.linearizability.Answer.Outcome;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A history that a test makes up, of one job; times are ms. */
final class Story {

  static final JobModel.Rules SOUND = new JobModel.Rules(false, false, 1_000_000);
  static final JobModel.Rules BROKEN = new JobModel.Rules(true, false, 1_000_000);

  private static final String JOB = "a";
  private static final long LEASE = 1_000_000;

  private final List<Operation> operations = new ArrayList<>();
  private long now;

  /** The next call begins then. */
  Story at(long millis) {
    now = millis;
    return this;
  }

  /** A call that took a ms. */
  Story call(Action action, Outcome outcome) {
    return call(action, Answer.of(outcome));
  }

  Story call(Action action, Answer answer) {
    return call(action, answer, 1);
  }

  Story call(Action action, @Nullable Answer answer, long took) {
    add(JOB, action, answer, now, now + took);
    now += took + 1;
    return this;
  }

  /** A call that was never answered. */
  Story unanswered(Action action) {
    return call(action, null, 0);
  }

  /** A worker got the job now; when it was claimed is not known. */
  Story delivered(String token, String content, int attempt) {
    add(
        JOB,
        new Action.Deliver(token, "of " + content, content, attempt, LEASE, false),
        Answer.of(Outcome.HAPPENED),
        0,
        now);
    now += 1;
    return this;
  }

  Story ended(String token, String content, Action.Ending ending, Outcome outcome) {
    return call(new Action.End(token, "of " + content, ending, 0), outcome);
  }

  /** Redis lost what was changed since, in the next ten ms. */
  Story lost(long since, boolean sparesConfirmed) {
    add(
        Histories.ALL,
        new Action.Loss(since * 1000, sparesConfirmed),
        Answer.of(Outcome.HAPPENED),
        now,
        now + 10);
    now += 11;
    return this;
  }

  Story emptied() {
    add(Histories.ALL, new Action.Emptied(), Answer.of(Outcome.HAPPENED), now, now + 10);
    now += 11;
    return this;
  }

  private void add(String id, Action action, @Nullable Answer answer, long from, long to) {
    operations.add(
        new Operation(
            "client",
            id,
            action,
            answer,
            from * 1000,
            answer == null ? Operation.NEVER : to * 1000));
  }

  List<Operation> operations() {
    return operations;
  }

  boolean holds() {
    return holds(SOUND);
  }

  boolean holds(JobModel.Rules rules) {
    return Histories.violation(operations, rules).isEmpty();
  }

  static Action.Submit submit(String content, long dueAt) {
    return new Action.Submit(content, Action.Due.at(dueAt * 1000), false, false);
  }

  static Action.Submit replace(String content, long dueAt) {
    return new Action.Submit(content, Action.Due.at(dueAt * 1000), false, true);
  }

  static Action.Cancel cancel() {
    return new Action.Cancel(null);
  }

  static Action.Reschedule reschedule(long dueAt) {
    return new Action.Reschedule(Action.Due.at(dueAt * 1000), null);
  }

  static Action.Revise revise(String content) {
    return new Action.Revise(content, null);
  }

  static Action.Find find() {
    return new Action.Find();
  }

  static Answer waiting(String content, long due) {
    return Answer.of(Outcome.WAITING).content(content).due(due * 1000);
  }
}
