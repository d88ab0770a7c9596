package io.punctual.spring.once;

import io.punctual.TaskContext;

/** Remembers which jobs are done. */
public interface OnceFilter {

  /** What a worker does. */
  @FunctionalInterface
  interface Work {
    void run() throws Exception;
  }

  /**
   * Does the work of a job, unless it is done already.
   *
   * @return false if it was done already, and is left out now
   * @throws Exception what the work throws: then it is not done
   */
  boolean run(TaskContext context, Work work) throws Exception;

  /** Forgets what was done too long ago to come again. */
  default void clean() {}
}
