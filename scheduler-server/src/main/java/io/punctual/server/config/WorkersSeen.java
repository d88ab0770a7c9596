package io.punctual.server.config;

import io.punctual.core.queue.QueueName;
import java.util.List;

/** Who would get jobs, as seen from here. */
public interface WorkersSeen {

  /** The ids in the registry of the instances that would get jobs of a queue. */
  List<String> of(QueueName queue);

  /** Whether the queue's jobs wait for now because all that this scheduler sent failed. */
  boolean isCircuitOpen(QueueName queue);

  /** The queues whose jobs wait for that reason. */
  List<QueueName> openCircuits();
}
