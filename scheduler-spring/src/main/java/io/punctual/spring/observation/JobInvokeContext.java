package io.punctual.spring.observation;

import io.micrometer.observation.transport.ReceiverContext;
import io.punctual.spi.JobAttempt;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The context of one attempt of a job, with its outcome at the end. Its carrier is the headers of
 * the job.
 */
public final class JobInvokeContext extends ReceiverContext<Map<String, String>> {

  private final String taskType;
  private final String taskId;
  private final int attempt;
  private final String delivery;
  private JobAttempt.@Nullable Outcome outcome;

  JobInvokeContext(
      String taskType, String taskId, int attempt, Map<String, String> headers, String delivery) {
    super((carrier, name) -> carrier.get(name));
    setCarrier(headers);
    this.taskType = taskType;
    this.taskId = taskId;
    this.attempt = attempt;
    this.delivery = delivery;
  }

  /** The type of the job. */
  public String getTaskType() {
    return taskType;
  }

  /** The id of the job. */
  public String getTaskId() {
    return taskId;
  }

  /** Which attempt of the job this is, counted from 1. */
  public int getAttempt() {
    return attempt;
  }

  /** How the job came here: {@code push}, {@code pull}, or {@code in-process} in plugin mode. */
  public String getDelivery() {
    return delivery;
  }

  /** How it ended, for the worker; null until then. */
  public JobAttempt.@Nullable Outcome getOutcome() {
    return outcome;
  }

  void setOutcome(JobAttempt.Outcome outcome) {
    this.outcome = outcome;
  }
}
