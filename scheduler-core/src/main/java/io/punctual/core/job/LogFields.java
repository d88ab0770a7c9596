package io.punctual.core.job;

import org.slf4j.spi.LoggingEventBuilder;

/** The fields of log lines, for searches in structured logs. */
public final class LogFields {

  private LogFields() {}

  /** A line about a queue. */
  public static LoggingEventBuilder of(LoggingEventBuilder line, QueueName queue) {
    return line.addKeyValue("punctual.application", queue.application())
        .addKeyValue("punctual.task.type", queue.taskType());
  }

  /** A line about a job. */
  public static LoggingEventBuilder of(LoggingEventBuilder line, QueueName queue, String taskId) {
    return of(line, queue).addKeyValue("punctual.task.id", taskId);
  }
}
