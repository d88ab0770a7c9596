package io.punctual.core.engine;

import io.punctual.core.queue.QueueName;

/**
 * Is told of jobs that go out again. Called by the engine's threads: it must not block or throw.
 */
@FunctionalInterface
public interface RepeatListener {

  /** Nobody listens. */
  RepeatListener NONE = (queue, cause, jobs) -> {};

  /**
   * Jobs will go out again.
   *
   * @param jobs how many, 1 or more
   */
  void repeated(QueueName queue, RepeatCause cause, int jobs);
}
