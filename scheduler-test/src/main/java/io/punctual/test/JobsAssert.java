package io.punctual.test;

import java.util.List;
import org.assertj.core.api.AbstractAssert;

/**
 * Assertions about the jobs of one type. Those that are <i>there</i> wait, are in delivery, or are
 * dead letters; finished and cancelled ones are gone, and known by their attempts alone.
 */
public final class JobsAssert extends AbstractAssert<JobsAssert, TestScheduler> {

  private final String taskType;

  JobsAssert(TestScheduler scheduler, String taskType) {
    super(scheduler, JobsAssert.class);
    this.taskType = taskType;
  }

  /** No job of the type is there. */
  public JobsAssert hasNone() {
    return hasSize(0);
  }

  /** So many jobs of the type are there. */
  public JobsAssert hasSize(int expected) {
    List<StoredJob> jobs = actual.jobs(taskType);
    if (jobs.size() != expected) {
      failWithMessage(
          "Expected %s of %s to be there, but there %s%s",
          count(expected), taskType, jobs.size() == 1 ? "is 1" : "are " + jobs.size(), shown(jobs));
    }
    return this;
  }

  /** Exactly one job of the type is there; goes on with that one. */
  public JobAssert hasOne() {
    hasSize(1);
    return job(actual.jobs(taskType).get(0).taskId());
  }

  /**
   * Goes on with the job of that id, which may also be finished or cancelled.
   *
   * @param taskId as it was submitted
   */
  public JobAssert job(String taskId) {
    return new JobAssert(actual, taskType, taskId).as(descriptionText());
  }

  /** So many jobs of the type are dead letters. */
  public JobsAssert hasDead(int expected) {
    List<StoredJob> jobs = actual.jobs(taskType);
    long dead = jobs.stream().filter(job -> job.state() == StoredJob.State.DEAD).count();
    if (dead != expected) {
      failWithMessage(
          "Expected %s of %s to be dead letters, but %s%s",
          count(expected), taskType, dead == 1 ? "1 is" : dead + " are", shown(jobs));
    }
    return this;
  }

  /** All jobs of the type together had so many attempts. */
  public JobsAssert wasAttempted(int expected) {
    int attempts = actual.attempts(taskType).size();
    if (attempts != expected) {
      failWithMessage(
          "Expected %s of %s, but there %s%s",
          Shown.attempts(expected),
          taskType,
          attempts == 1 ? "was 1" : "were " + attempts,
          shown(actual.jobs(taskType)));
    }
    return this;
  }

  private String shown(List<StoredJob> jobs) {
    return Shown.of(actual, jobs, actual.attempts(taskType));
  }

  private static String count(int jobs) {
    return jobs == 0 ? "no job" : jobs == 1 ? "one job" : jobs + " jobs";
  }
}
