package io.punctual.core;

import io.punctual.core.job.QueueName;

/** Is told what an engine does, for those who count. */
@FunctionalInterface
public interface EngineListener {

  /** Nobody listens. */
  EngineListener NONE = queue -> QueueListener.NONE;

  /** Who is told of a queue. Asked for every queue that the engine gets to know, mostly once. */
  QueueListener of(QueueName queue);

  /** A scanner looks at its bucket. */
  default void woken(WakeCause cause) {}
}
