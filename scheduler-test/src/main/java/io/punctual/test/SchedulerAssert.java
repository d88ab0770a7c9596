package io.punctual.test;

import java.util.List;
import org.assertj.core.api.AbstractAssert;

/** Assertions about all jobs of a scheduler; what fails says which jobs are there. */
public final class SchedulerAssert extends AbstractAssert<SchedulerAssert, TestScheduler> {

  SchedulerAssert(TestScheduler actual) {
    super(actual, SchedulerAssert.class);
  }

  /** Goes on with the jobs of one type. */
  public JobsAssert of(String taskType) {
    isNotNull();
    return new JobsAssert(actual, taskType).as(descriptionText());
  }

  /** No job of any type is there: none waits, is in delivery, or is a dead letter. */
  public SchedulerAssert hasNone() {
    isNotNull();
    List<StoredJob> jobs = actual.jobs();
    if (!jobs.isEmpty()) {
      failWithMessage("Expected no job to be there%s", Shown.of(actual, jobs, List.of()));
    }
    return this;
  }

  /** No job of any type is a dead letter. */
  public SchedulerAssert hasNoDeadLetters() {
    isNotNull();
    List<StoredJob> dead = actual.deadLetters();
    if (!dead.isEmpty()) {
      failWithMessage("Expected no dead letters%s", Shown.of(actual, dead, actual.attempts()));
    }
    return this;
  }
}
