package io.punctual.internal;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Shows attempts to whoever watches the application, from their begin to their end. */
@FunctionalInterface
public interface AttemptObservations {

  /** An attempt that nobody watches. */
  Observed UNOBSERVED =
      new Observed() {
        @Override
        public void leave() {}

        @Override
        public void enter() {}

        @Override
        public void ended(@Nullable Throwable thrown, boolean deferred) {}
      };

  /** Nobody watches. */
  AttemptObservations NONE = (delivery, taskType, taskId, attempt, headers) -> UNOBSERVED;

  /**
   * An attempt begins on this thread. Throws nothing: what watches a job does not keep it from
   * running.
   *
   * @param delivery how the job came here: {@code push}, {@code pull}, or {@code in-process}
   * @param attempt counted from 1
   * @param headers of the job, with the trace of its submit
   */
  Observed started(
      String delivery, String taskType, String taskId, int attempt, Map<String, String> headers);

  /** An attempt that is under way; its methods throw nothing. */
  interface Observed {

    /** It goes on without the thread on which it began. */
    void leave();

    /** What follows on this thread belongs to it; only after {@link #leave}. */
    void enter();

    /**
     * It has ended, on the thread on which it began, or which it entered last.
     *
     * @param thrown what the worker threw; null if it returned
     * @param deferred whether it said that the job goes on without it
     */
    void ended(@Nullable Throwable thrown, boolean deferred);
  }
}
