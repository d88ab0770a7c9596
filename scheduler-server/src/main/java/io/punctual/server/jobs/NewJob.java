package io.punctual.server.jobs;

import io.punctual.DelayQueueJob;
import io.punctual.core.job.QueueName;
import java.util.Map;

/**
 * A job to submit.
 *
 * @param named whether the client chose the task id
 */
public record NewJob(String application, DelayQueueJob job, boolean named) {

  /** Returns the queue of the job. */
  public QueueName queue() {
    return new QueueName(application, job.taskType());
  }

  /** Returns the name of the job. */
  public JobRef ref() {
    return new JobRef(queue(), job.taskId());
  }

  /** Estimates the bytes that Redis keeps of the job's content: one for each character. */
  int size() {
    int size = job.params().length();
    for (Map.Entry<String, String> header : job.headers().entrySet()) {
      size += header.getKey().length() + header.getValue().length();
    }
    return size;
  }
}
