package io.punctual.client.tracing;

import io.punctual.DelayQueueJob;
import io.punctual.spring.SubmitTracing;
import io.punctual.wire.CallbackRequest;
import org.jspecify.annotations.Nullable;

/** Takes a trace from the submit of a job to its attempts. */
public interface JobTracing extends SubmitTracing {

  /** Nothing comes of it. */
  Attempt UNTRACED =
      new Attempt() {
        @Override
        public void leave() {}

        @Override
        public void enter() {}

        @Override
        public void ended(@Nullable Throwable thrown) {}
      };

  /** Nothing is traced. */
  JobTracing NONE =
      new JobTracing() {
        @Override
        public DelayQueueJob submitted(DelayQueueJob job) {
          return job;
        }

        @Override
        public Attempt started(CallbackRequest.Job job) {
          return UNTRACED;
        }
      };

  /** An attempt begins on this thread. */
  Attempt started(CallbackRequest.Job job);

  /** An attempt that is under way. */
  interface Attempt {

    /** It goes on without the thread on which it began, or was entered. */
    void leave();

    /** What follows on this thread belongs to it. */
    void enter();

    /**
     * It has ended, on the thread on which it began, or was entered last.
     *
     * @param thrown what the worker threw; null if it returned
     */
    void ended(@Nullable Throwable thrown);
  }
}
