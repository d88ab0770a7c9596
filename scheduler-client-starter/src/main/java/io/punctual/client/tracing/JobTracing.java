package io.punctual.client.tracing;

import io.punctual.DelayQueueJob;
import io.punctual.spring.SubmitTracing;
import io.punctual.wire.CallbackRequest;
import org.jspecify.annotations.Nullable;

/** Takes a trace from the submit of a job to its attempts. */
public interface JobTracing extends SubmitTracing {

  /** Nothing is traced. */
  JobTracing NONE =
      new JobTracing() {
        @Override
        public DelayQueueJob submitted(DelayQueueJob job) {
          return job;
        }

        @Override
        public Attempt started(CallbackRequest.Job job) {
          return thrown -> {};
        }
      };

  /** An attempt begins on this thread. */
  Attempt started(CallbackRequest.Job job);

  /** An attempt that is under way. */
  interface Attempt {

    /**
     * It has ended, on the same thread.
     *
     * @param thrown what the worker threw; null if it returned
     */
    void ended(@Nullable Throwable thrown);
  }
}
