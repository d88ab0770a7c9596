package io.punctual.systemtest.linearizability;

import io.punctual.systemtest.linearizability.Answer.Outcome;
import io.punctual.systemtest.linearizability.JobState.Phase;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One job id, one call after the other: the state machine of docs/state-machine.md as its users see
 * it, and what a loss of Redis may undo.
 */
final class JobModel implements Model<JobModel.Life> {

  /**
   * A job and what Redis will go back to.
   *
   * @param surviving what the next loss will bring back; null where that is not decided yet, which
   *     is the job as it is then
   * @param losses how many there have been
   */
  record Life(JobState job, @Nullable JobState surviving, int losses) {}

  /**
   * What else may happen to jobs.
   *
   * @param lostClaims whether a claim may have reached nobody until its lease ran out: something
   *     broke. One that is given back at once can be there at any time
   * @param lostAnswers whether an attempt may be given up on before its lease is over: its answer
   *     did not arrive, or its scheduler was stopped
   * @param lease of a claim that reached nobody, µs
   */
  record Rules(boolean lostClaims, boolean lostAnswers, long lease) {}

  // Redis and the jobs count in ms, the clients in µs.
  private static final long ROUNDED = 2_000;
  private static final long ANY_TIME = Operation.NEVER;
  private static final String NOBODY = "nobody";

  private final Rules rules;
  private final List<Operation> losses;
  private final boolean foundInDelivery;

  /**
   * @param history of one job id, in the order of invocation
   */
  JobModel(List<Operation> history, Rules rules) {
    this.rules = rules;
    this.foundInDelivery =
        history.stream().anyMatch(operation -> operation.answered(Outcome.IN_DELIVERY));
    this.losses =
        history.stream()
            .filter(
                operation ->
                    operation.action() instanceof Action.Loss
                        || operation.action() instanceof Action.Emptied)
            .toList();
  }

  @Override
  public Life initial() {
    return new Life(JobState.NONE, null, 0);
  }

  @Override
  public List<Step<Life>> steps(Life life, Operation operation, long at) {
    if (operation.action() instanceof Action.Emptied) {
      return List.of(new Step<>(new Life(JobState.NONE, null, life.losses + 1), at));
    }
    if (operation.action() instanceof Action.Loss) {
      JobState back = life.surviving == null ? life.job : life.surviving;
      return List.of(new Step<>(new Life(back, null, life.losses + 1), at));
    }
    boolean survives = survivesNextLoss(life, operation);
    if (survives && life.surviving != null) {
      return List.of();
    }
    return lives(life, new Call(life.job, operation, at).steps(), survives);
  }

  @Override
  public Object key(Life life) {
    return new Life(
        life.job.withoutBounds(),
        life.surviving == null ? null : life.surviving.withoutBounds(),
        life.losses);
  }

  @Override
  public boolean covers(Life life, Life other) {
    return life.job.covers(other.job)
        && (life.surviving == null
            || (other.surviving != null && life.surviving.covers(other.surviving)));
  }

  @Override
  public List<Step<Life>> silentSteps(Life life, long at) {
    List<Step<JobState>> steps = new ArrayList<>();
    for (Step<JobState> step : silent(life.job, at)) {
      steps.add(new Step<>(unseen(step.state(), life.job), step.notBefore()));
    }
    return lives(life, steps, /* survives= */ !mayLose(life));
  }

  /** What survives the next loss is what was there before any one of the changes behind it. */
  private static List<Step<Life>> lives(Life life, List<Step<JobState>> steps, boolean survives) {
    List<Step<Life>> all = new ArrayList<>();
    for (Step<JobState> step : steps) {
      JobState next = step.state();
      all.add(new Step<>(new Life(next, life.surviving, life.losses), step.notBefore()));
      if (!survives && life.surviving == null && !next.equals(life.job)) {
        all.add(new Step<>(new Life(next, life.job, life.losses), step.notBefore()));
      }
    }
    return all;
  }

  /** The version that nobody has seen is larger; how much does not matter. */
  private static JobState unseen(JobState next, JobState job) {
    return next.known(
        next.incarnation(), job.version(), /* exactly= */ false, next.dueFrom(), next.dueTo());
  }

  private boolean mayLose(Life life) {
    return life.losses < losses.size() && losses.get(life.losses).action() instanceof Action.Loss;
  }

  /** Whether the next loss brings back nothing that was before this operation. */
  private boolean survivesNextLoss(Life life, Operation operation) {
    if (life.losses == losses.size()
        || !(losses.get(life.losses).action() instanceof Action.Loss next)) {
      return true;
    }
    Answer answer = operation.answer();
    return operation.answered() < next.asOf()
        || (next.sparesConfirmed() && answer != null && answer.confirmed());
  }

  private List<Step<JobState>> silent(JobState job, long at) {
    List<Step<JobState>> all = new ArrayList<>();
    if (job.is(Phase.IN_DELIVERY)) {
      long over = Math.max(at, job.leaseFrom());
      boolean reachedNobody = NOBODY.equals(job.token());
      if (!reachedNobody || rules.lostClaims) {
        givenUp(job, over, all);
      }
      if (rules.lostAnswers && !reachedNobody) {
        givenUp(job, at, all);
      }
      if (rules.lostAnswers || reachedNobody) {
        // Given back untried.
        all.add(new Step<>(job.back(job.dueFrom(), job.dueTo(), job.attempt()), at));
      }
      if (job.pulled() || (reachedNobody && rules.lostClaims)) {
        // The scheduler does not know that it was received: no attempt was made.
        all.add(new Step<>(job.back(job.dueFrom(), job.dueTo(), job.attempt()), over));
      }
    } else if (job.is(Phase.WAITING) && (rules.lostClaims || foundInDelivery)) {
      // A puller had its answer before, or left.
      long claimed = Math.max(at, job.dueFrom());
      all.add(new Step<>(job.leased(NOBODY, claimed + rules.lease, false), claimed));
    }
    return all;
  }

  private static void givenUp(JobState job, long when, List<Step<JobState>> all) {
    all.add(new Step<>(job.back(when - ROUNDED, ANY_TIME, job.attempt() + 1), when));
    if (job.once()) {
      all.add(new Step<>(job.dead(), when));
    }
  }

  /** One call that meets a job in one state. */
  private static final class Call {

    private final JobState job;
    private final Operation operation;
    private final @Nullable Answer answer;
    private final long at;
    private final long latest;
    private final List<Step<JobState>> steps = new ArrayList<>();

    Call(JobState job, Operation operation, long at) {
      this.job = job;
      this.operation = operation;
      this.answer = operation.answer();
      this.at = at;
      this.latest = operation.answered();
    }

    List<Step<JobState>> steps() {
      switch (operation.action()) {
        case Action.Submit submit -> submit(submit);
        case Action.Cancel cancel -> ifSeen(cancel.seen(), this::cancel);
        case Action.CancelByTag tag -> cancelByTag();
        case Action.Reschedule change ->
            ifSeen(
                change.seen(),
                () ->
                    change(Outcome.RESCHEDULED, job.due(from(change.due()), latest(change.due()))));
        case Action.Revise change -> {
          ifSeen(change.seen(), () -> change(Outcome.REVISED, job.revised(change.content())));
          if (change.seen() == null) {
            // It is made from what was seen; where others change it all the time, it gives up.
            stays(Outcome.CHANGED_MEANWHILE);
          }
        }
        case Action.Restore restore -> restore();
        case Action.Requeue requeue -> requeue();
        case Action.Find find -> find();
        case Action.Deliver delivery -> deliver(delivery);
        case Action.End end -> end(end);
        case Action.Loss loss -> throw new IllegalArgumentException(loss.toString());
        case Action.Emptied emptied -> throw new IllegalArgumentException(emptied.toString());
      }
      return steps;
    }

    private long from(Action.Due due) {
      return due.relative() ? at + due.micros() - ROUNDED : due.micros();
    }

    private long latest(Action.Due due) {
      if (!due.relative()) {
        return due.micros();
      }
      return latest == Operation.NEVER ? ANY_TIME : latest + due.micros();
    }

    /** The call leads there, with that outcome; ignored where it had another answer. */
    private void to(Outcome outcome, JobState next) {
      to(outcome, next, at);
    }

    private void to(Outcome outcome, JobState next, long notBefore) {
      if (answer == null) {
        steps.add(new Step<>(next, notBefore));
      } else if (answer.outcome() == outcome || answer.outcome() == Outcome.HAPPENED) {
        JobState known = observed(answer, next);
        if (known != null) {
          steps.add(new Step<>(known, notBefore));
        }
      }
    }

    private void stays(Outcome outcome) {
      to(outcome, job);
    }

    private static @Nullable JobState observed(Answer answer, JobState state) {
      boolean other =
          answer.incarnation() != null
              && state.incarnation() != null
              && !answer.incarnation().equals(state.incarnation());
      if (other
          || (answer.content() != null && !answer.content().equals(state.content()))
          || (answer.attempt() != 0 && answer.attempt() != state.attempt())) {
        return null;
      }
      boolean hasVersion = answer.version() != 0;
      if (hasVersion
          && (state.exact()
              ? answer.version() != state.version()
              : answer.version() < state.version())) {
        return null;
      }
      boolean hasDue = answer.due() != 0;
      if (hasDue
          && (answer.due() < state.dueFrom() - ROUNDED || answer.due() - ROUNDED > state.dueTo())) {
        return null;
      }
      return state.known(
          answer.incarnation() != null ? answer.incarnation() : state.incarnation(),
          hasVersion ? answer.version() : state.version(),
          state.exact() || hasVersion,
          hasDue ? answer.due() : state.dueFrom(),
          hasDue ? answer.due() : state.dueTo());
    }

    private void submit(Action.Submit submit) {
      boolean same = submit.content().equals(job.content());
      JobState created =
          JobState.waiting(
              submit.content(), from(submit.due()), latest(submit.due()), submit.once());
      switch (job.phase()) {
        case ABSENT, CANCELLED -> to(Outcome.CREATED, created);
        case FINISHED -> {
          if (same) {
            stays(Outcome.DONE_BEFORE);
          } else if (submit.replace()) {
            to(Outcome.CREATED, created);
          } else {
            stays(Outcome.CONFLICT_DONE);
          }
        }
        case WAITING, DEAD, IN_DELIVERY -> {
          if (same) {
            stays(Outcome.THERE);
          } else if (!submit.replace()) {
            stays(Outcome.CONFLICT);
          } else if (job.is(Phase.IN_DELIVERY)) {
            stays(Outcome.IN_DELIVERY);
          } else {
            to(
                Outcome.REPLACED,
                created.known(null, job.version() + 1, false, created.dueFrom(), created.dueTo()));
          }
        }
      }
    }

    /** Changes it if the job may be what was seen; answers that it changed if it may be not. */
    private void ifSeen(Action.@Nullable Seen seen, Runnable change) {
      if (seen == null) {
        change.run();
        return;
      }
      boolean is =
          seen.incarnation().equals(job.incarnation())
              && job.exact()
              && seen.version() == job.version();
      boolean mayBe =
          (job.incarnation() == null || job.incarnation().equals(seen.incarnation()))
              && (job.exact() ? seen.version() == job.version() : seen.version() >= job.version());
      // Where there is nothing to change, that may be answered first.
      if (mayBe || !job.is(Phase.WAITING)) {
        change.run();
      }
      if (!is) {
        stays(Outcome.CHANGED_MEANWHILE);
      }
    }

    private void cancel() {
      switch (job.phase()) {
        case WAITING -> to(Outcome.CANCELLED, job.cancelled());
        case CANCELLED -> stays(Outcome.CANCELLED);
        case ABSENT -> stays(Outcome.NOT_FOUND);
        case IN_DELIVERY -> stays(Outcome.IN_DELIVERY);
        case FINISHED -> stays(Outcome.FINISHED);
        case DEAD -> stays(Outcome.DEAD);
      }
    }

    private void cancelByTag() {
      if (answer != null && answer.outcome() == Outcome.NOT_LISTED) {
        switch (job.phase()) {
          case ABSENT, FINISHED, CANCELLED -> stays(Outcome.NOT_LISTED);
          case WAITING, IN_DELIVERY, DEAD -> {}
        }
        return;
      }
      cancel();
    }

    private void change(Outcome outcome, JobState changed) {
      switch (job.phase()) {
        case WAITING -> to(outcome, changed);
        case ABSENT, CANCELLED -> stays(Outcome.NOT_FOUND);
        case IN_DELIVERY -> stays(Outcome.IN_DELIVERY);
        case FINISHED -> stays(Outcome.FINISHED);
        case DEAD -> stays(Outcome.DEAD);
      }
    }

    private void restore() {
      switch (job.phase()) {
        case CANCELLED -> to(Outcome.RESTORED, job.uncancelled(at - ROUNDED, latest));
        case WAITING, IN_DELIVERY, DEAD ->
            stays(job.restored() ? Outcome.RESTORED : Outcome.EXISTS);
        case FINISHED -> stays(Outcome.FINISHED);
        case ABSENT -> stays(Outcome.NOT_FOUND);
      }
    }

    private void requeue() {
      if (job.is(Phase.DEAD)) {
        to(Outcome.REQUEUED, job.due(at - ROUNDED, latest));
      } else {
        stays(Outcome.NOT_FOUND);
      }
    }

    private void find() {
      stays(
          switch (job.phase()) {
            case ABSENT -> Outcome.NOT_FOUND;
            case WAITING -> Outcome.WAITING;
            case IN_DELIVERY -> Outcome.IN_DELIVERY;
            case DEAD -> Outcome.DEAD;
            case FINISHED -> Outcome.FINISHED;
            case CANCELLED -> Outcome.CANCELLED;
          });
    }

    private void deliver(Action.Deliver delivery) {
      boolean may =
          job.is(Phase.WAITING)
              && delivery.content().equals(job.content())
              && delivery.attempt() == job.attempt()
              && (job.incarnation() == null || job.incarnation().equals(delivery.incarnation()));
      if (may) {
        long claimed = Math.max(at, job.dueFrom());
        JobState taken =
            job.leased(delivery.token(), claimed + delivery.lease() - ROUNDED, delivery.pulled());
        to(
            Outcome.HAPPENED,
            taken.known(
                delivery.incarnation(),
                taken.version(),
                taken.exact(),
                taken.dueFrom(),
                taken.dueTo()),
            claimed);
      }
    }

    private void end(Action.End end) {
      boolean same = end.incarnation().equals(job.incarnation());
      if (end.ending() == Action.Ending.DONE) {
        if (!same) {
          stays(Outcome.GONE);
        } else {
          switch (job.phase()) {
            // Late or not: the work is done.
            case WAITING, IN_DELIVERY, DEAD -> to(Outcome.ENDED, job.ended(Phase.FINISHED));
            case FINISHED -> stays(Outcome.ALREADY);
            case ABSENT, CANCELLED -> stays(Outcome.GONE);
          }
        }
        return;
      }
      if (!same || !job.is(Phase.IN_DELIVERY) || !end.token().equals(job.token())) {
        stays(Outcome.LEASE_LOST);
        return;
      }
      long earliest = at + Math.max(0, end.delay()) - ROUNDED;
      long last = latest == Operation.NEVER || end.delay() < 0 ? ANY_TIME : latest + end.delay();
      switch (end.ending()) {
        case RELEASED -> to(Outcome.RETRIED, job.back(earliest, last, job.attempt()));
        case RETURNED -> to(Outcome.RETRIED, job.back(job.dueFrom(), job.dueTo(), job.attempt()));
        case REJECTED -> to(Outcome.DEAD, job.dead());
        case FAILED -> {
          if (job.once()) {
            to(Outcome.DEAD, job.dead());
          } else {
            to(Outcome.RETRIED, job.back(earliest, last, job.attempt() + 1));
          }
        }
        case UNKNOWN -> {
          to(Outcome.RETRIED, job.back(earliest, ANY_TIME, job.attempt() + 1));
          if (job.once()) {
            to(Outcome.DEAD, job.dead());
          }
        }
        case DONE -> throw new IllegalStateException();
      }
    }
  }
}
