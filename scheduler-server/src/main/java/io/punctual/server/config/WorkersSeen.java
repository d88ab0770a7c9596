package io.punctual.server.config;

import io.punctual.core.queue.QueueName;
import java.util.List;

/** Who would get jobs, as seen from here. */
public interface WorkersSeen {

  /** The ids in the registry of the instances that would get jobs of a queue. */
  List<String> of(QueueName queue);

  /** Whether the application is left alone for now because all that it was sent failed. */
  boolean isCircuitOpen(String application);

  /** The applications that are left alone for now. */
  List<String> openCircuits();
}
