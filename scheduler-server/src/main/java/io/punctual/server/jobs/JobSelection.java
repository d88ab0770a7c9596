package io.punctual.server.jobs;

import io.punctual.core.job.QueueName;
import org.jspecify.annotations.Nullable;

/**
 * The jobs of a bulk operation: those that match a filter, those with given ids, or those that
 * another operation cancelled.
 */
public sealed interface JobSelection permits JobFilter, JobIds, JobSelection.CancelledIn {

  /** As a search of the console has it. */
  String text();

  /**
   * What is kept of the jobs that an operation cancelled.
   *
   * @param operation its id
   * @param application null for all
   * @param taskType null for all
   * @param about the queues of the operation, for people; empty if they are not known
   * @param cancelled how many jobs it cancelled; null if that is not known
   */
  record CancelledIn(
      String operation,
      @Nullable String application,
      @Nullable String taskType,
      String about,
      @Nullable Integer cancelled)
      implements JobSelection {

    /** Writes the application as queues have it. */
    public CancelledIn {
      application = application == null ? null : new QueueName(application, "any").application();
    }

    @Override
    public String text() {
      return (application == null ? "" : "app:" + application + " ")
          + (taskType == null ? "" : "type:" + taskType + " ")
          + "operation:"
          + operation;
    }

    /** The queue that it names; null where there may be several. */
    @Nullable QueueName queue() {
      return application == null || taskType == null ? null : new QueueName(application, taskType);
    }

    boolean covers(QueueName queue) {
      return (application == null || queue.application().equals(application))
          && (taskType == null || queue.taskType().equals(taskType));
    }

    /** Binds a cursor to these jobs. */
    String fingerprint() {
      return Integer.toHexString(text().hashCode());
    }
  }
}
