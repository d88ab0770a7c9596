package io.punctual.test;

import io.punctual.core.job.JobState;
import io.punctual.core.store.query.JobView;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.assertj.core.api.AbstractAssert;
import org.jspecify.annotations.Nullable;

/** Assertions about one job, as it is at the moment of each call. */
public final class JobAssert extends AbstractAssert<JobAssert, TestScheduler> {

  private final String taskType;
  private final String taskId;

  JobAssert(TestScheduler scheduler, String taskType, String taskId) {
    super(scheduler, JobAssert.class);
    this.taskType = taskType;
    this.taskId = taskId;
  }

  /** It waits to run, for the first time or again. */
  public JobAssert isWaiting() {
    return isIn(JobState.DELAYED, "to wait");
  }

  /** It is a dead letter: rejected, or out of attempts. */
  public JobAssert isDead() {
    return isIn(JobState.DEAD, "to be a dead letter");
  }

  /** It ran and is finished. Ids are remembered for ten minutes of the scheduler's time. */
  public JobAssert isDone() {
    return isIn(JobState.FINISHED, "to be done");
  }

  /** It was cancelled. Ids are remembered for ten minutes of the scheduler's time. */
  public JobAssert isCancelled() {
    return isIn(JobState.CANCELLED, "to be cancelled");
  }

  /** A worker has it, or had it and was not heard of since. */
  public JobAssert isInDelivery() {
    return isIn(JobState.RESERVED, "to be in delivery");
  }

  private JobAssert isIn(JobState state, String expected) {
    JobState found = actual.view(taskType, taskId).map(JobView::state).orElse(null);
    if (found != state) {
      throw unmet(expected, found == null ? gone() : "it " + words(found));
    }
    return this;
  }

  /**
   * It waits, and is due in that time from now, to the millisecond, by the scheduler's clock.
   *
   * @param expected negative where it is overdue
   */
  public JobAssert dueIn(Duration expected) {
    StoredJob job = waiting("to be due in " + Shown.text(expected));
    Duration found = Duration.between(actual.now(), job.at());
    if (!found.equals(expected)) {
      throw unmet(
          "to be due in " + Shown.text(expected),
          found.isNegative()
              ? "it was due " + Shown.text(found.negated()) + " ago"
              : "it is due in " + Shown.text(found));
    }
    return this;
  }

  /** It waits, and is due at that instant, to the millisecond. */
  public JobAssert dueAt(Instant expected) {
    StoredJob job = waiting("to be due at " + expected);
    if (job.at().toEpochMilli() != expected.toEpochMilli()) {
      throw unmet("to be due at " + expected, "it is due at " + job.at());
    }
    return this;
  }

  private StoredJob waiting(String expected) {
    StoredJob job = there(expected);
    if (job.state() != StoredJob.State.WAITING) {
      throw unmet(expected, "it does not wait");
    }
    return job;
  }

  /** It has these params. */
  public JobAssert withParams(String expected) {
    String wanted = "to have the params '" + expected + "'";
    String found = there(wanted).params();
    if (!found.equals(expected)) {
      throw unmet(wanted, "it has '" + found + "'");
    }
    return this;
  }

  /** It has this header, with this value. */
  public JobAssert withHeader(String name, String expected) {
    String wanted = "to have the header " + name + ": " + expected;
    @Nullable String found = there(wanted).headers().get(name);
    if (!Objects.equals(found, expected)) {
      throw unmet(
          wanted,
          found == null
              ? "it has only " + there(wanted).headers().keySet()
              : "it has " + name + ": " + found);
    }
    return this;
  }

  /** It has these tags, and perhaps others. */
  public JobAssert withTags(String... expected) {
    List<String> wanted = List.of(expected);
    List<String> found = there("to have the tags " + wanted).tags();
    if (!found.containsAll(wanted)) {
      throw unmet("to have the tags " + wanted, "it has " + found);
    }
    return this;
  }

  /** It ran so many times; each run of a worker counts, whatever became of it. */
  public JobAssert wasAttempted(int expected) {
    List<Attempt> attempts = attempts();
    if (attempts.size() != expected) {
      throw unmet(
          "to have had " + Shown.attempts(expected), "it had " + Shown.attempts(attempts.size()));
    }
    return this;
  }

  /**
   * Its last attempt ended with an error that says so.
   *
   * @param text part of the message, or of the name of the class
   */
  public JobAssert failedWith(String text) {
    List<Attempt> attempts = attempts();
    Throwable error = attempts.isEmpty() ? null : attempts.get(attempts.size() - 1).error();
    if (error == null || !error.toString().contains(text)) {
      throw unmet(
          "to have failed with '" + text + "'",
          attempts.isEmpty()
              ? "it did not run"
              : error == null ? "its last attempt did not fail" : "it failed with " + error);
    }
    return this;
  }

  private StoredJob there(String expected) {
    Optional<StoredJob> job = actual.find(taskType, taskId);
    if (job.isEmpty()) {
      String gone =
          actual
              .view(taskType, taskId)
              .map(view -> "it " + words(view.state()))
              .orElseGet(this::gone);
      throw unmet(expected, gone);
    }
    return job.get();
  }

  private String gone() {
    List<Attempt> attempts = attempts();
    boolean done =
        !attempts.isEmpty() && attempts.get(attempts.size() - 1).outcome() == Attempt.Outcome.DONE;
    return done
        ? "it is not there any more: it was done, and ids are remembered for ten minutes only; look"
            + " sooner, or use wasAttempted(1)"
        : "it is not there";
  }

  private List<Attempt> attempts() {
    return actual.attempts(taskType).stream()
        .filter(attempt -> attempt.taskId().equals(taskId))
        .toList();
  }

  private static String words(JobState state) {
    return switch (state) {
      case DELAYED -> "waits";
      case RESERVED -> "is in delivery";
      case DEAD -> "is a dead letter";
      case FINISHED -> "is done";
      case CANCELLED -> "was cancelled";
    };
  }

  private AssertionError unmet(String expected, String found) {
    List<StoredJob> job = actual.find(taskType, taskId).map(List::of).orElse(List.of());
    List<StoredJob> shown = job.isEmpty() ? actual.jobs(taskType) : job;
    return failure(
        "Expected job %s of %s %s, but %s%s",
        taskId, taskType, expected, found, Shown.of(actual, shown, attempts()));
  }
}
