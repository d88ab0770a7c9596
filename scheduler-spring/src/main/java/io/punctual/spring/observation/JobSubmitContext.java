package io.punctual.spring.observation;

import io.micrometer.observation.transport.SenderContext;
import io.punctual.DelayQueueJob;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The context of a submit: its jobs, and their outcome at the end. Its carrier takes the headers
 * that continue the trace in the worker.
 */
public final class JobSubmitContext extends SenderContext<Map<String, String>> {

  /** How a trace travels with a job. */
  static final String TRACEPARENT = "traceparent";

  private final List<DelayQueueJob> jobs;
  private final boolean batch;
  private final @Nullable String taskType;
  private @Nullable String outcome;

  JobSubmitContext(List<DelayQueueJob> jobs, boolean batch) {
    // All headers but this one are content, and the same job has the same content in each trace.
    super(
        (headers, name, value) -> {
          if (headers != null && name.equals(TRACEPARENT)) {
            headers.put(name, value);
          }
        });
    setCarrier(new HashMap<>(2));
    this.jobs = jobs;
    this.batch = batch;
    String first = jobs.get(0).taskType();
    this.taskType = jobs.stream().allMatch(job -> job.taskType().equals(first)) ? first : null;
  }

  /** The jobs, at least one. */
  public List<DelayQueueJob> getJobs() {
    return jobs;
  }

  /** Whether this is a {@code sendAll}. */
  public boolean isBatch() {
    return batch;
  }

  /** The task type that all jobs have; null where they have several. */
  public @Nullable String getTaskType() {
    return taskType;
  }

  /**
   * What came of it: the {@link io.punctual.SubmitResult.Outcome} in lower case, {@code failed}
   * where it or one of its jobs was refused or not answered, {@code mixed} where jobs differ; null
   * until then.
   */
  public @Nullable String getOutcome() {
    return outcome;
  }

  void setOutcome(String outcome) {
    this.outcome = outcome;
  }

  /** The job with the trace of this submit, if there is one, and the job has no other. */
  DelayQueueJob traced(DelayQueueJob job) {
    Map<String, String> carrier = getCarrier();
    String trace = carrier == null ? null : carrier.get(TRACEPARENT);
    return trace == null || job.headers().containsKey(TRACEPARENT)
        ? job
        : job.toBuilder().header(TRACEPARENT, trace).build();
  }
}
