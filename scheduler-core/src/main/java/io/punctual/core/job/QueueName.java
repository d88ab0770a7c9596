package io.punctual.core.job;

import io.punctual.wire.Limits;
import java.util.Locale;

/**
 * A queue: one application's jobs of one task type.
 *
 * @param application in lower case, since registries compare application names without case
 * @param taskType case matters
 */
public record QueueName(String application, String taskType) implements Comparable<QueueName> {

  /**
   * Checks both names and lowers the application's case.
   *
   * @throws IllegalArgumentException if one is outside {@link Limits#isName}
   */
  public QueueName {
    application = Limits.requireName("application", application).toLowerCase(Locale.ROOT);
    Limits.requireName("taskType", taskType);
  }

  @Override
  public int compareTo(QueueName other) {
    int byApplication = application.compareTo(other.application);
    return byApplication != 0 ? byApplication : taskType.compareTo(other.taskType);
  }

  @Override
  public String toString() {
    return application + "/" + taskType;
  }
}
