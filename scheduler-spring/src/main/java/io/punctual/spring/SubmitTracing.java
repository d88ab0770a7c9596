package io.punctual.spring;

import io.punctual.DelayQueueJob;

/** Marks jobs with the trace of whoever submits them. */
@FunctionalInterface
public interface SubmitTracing {

  /** The job, with the trace of this thread if there is one and the job has none. */
  DelayQueueJob submitted(DelayQueueJob job);
}
