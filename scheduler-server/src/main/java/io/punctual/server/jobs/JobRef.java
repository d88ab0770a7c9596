package io.punctual.server.jobs;

import io.punctual.core.job.QueueName;
import io.punctual.server.problem.ApiException;
import io.punctual.wire.Limits;

/** Names one job. */
public record JobRef(QueueName queue, String taskId) {

  /**
   * Checks the names.
   *
   * @throws ApiException 400, naming the part
   */
  public static JobRef of(String application, String taskType, String taskId) {
    if (!Limits.isTaskId(taskId)) {
      throw ApiException.invalid("taskId", Limits.NAME_RULE);
    }
    return new JobRef(queue(application, taskType), taskId);
  }

  /**
   * Checks the names of a queue.
   *
   * @throws ApiException 400, naming the part
   */
  public static QueueName queue(String application, String taskType) {
    return new QueueName(checked("application", application), checked("taskType", taskType));
  }

  static String checked(String field, String value) {
    if (!Limits.isName(value)) {
      throw ApiException.invalid(field, Limits.NAME_RULE);
    }
    return value;
  }

  @Override
  public String toString() {
    return queue + "/" + taskId;
  }
}
