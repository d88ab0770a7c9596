package io.punctual.spring;

import io.punctual.BatchItem;
import io.punctual.DelayQueueJob;
import io.punctual.SubmitResult;
import java.util.List;
import java.util.function.Function;

/**
 * Shows submits to whoever watches the application, and marks their jobs with the trace to which
 * they belong. What is thrown by the send is thrown on, and nothing else.
 */
public interface SubmitObservations {

  /** Nobody watches. */
  SubmitObservations NONE =
      new SubmitObservations() {
        @Override
        public SubmitResult send(DelayQueueJob job, Function<DelayQueueJob, SubmitResult> send) {
          return send.apply(job);
        }

        @Override
        public List<BatchItem> sendAll(
            List<DelayQueueJob> jobs, Function<List<DelayQueueJob>, List<BatchItem>> send) {
          return send.apply(jobs);
        }
      };

  /** Sends a job by the function, which gets it as it is to be sent. */
  SubmitResult send(DelayQueueJob job, Function<DelayQueueJob, SubmitResult> send);

  /** Sends jobs by the function, which gets them as they are to be sent. */
  List<BatchItem> sendAll(
      List<DelayQueueJob> jobs, Function<List<DelayQueueJob>, List<BatchItem>> send);
}
