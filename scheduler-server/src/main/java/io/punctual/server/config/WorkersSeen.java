package io.punctual.server.config;

import io.punctual.core.queue.QueueName;
import java.util.List;

/** Which instances would get jobs of a queue, as seen from here. */
public interface WorkersSeen {

  /** Their ids in the registry. */
  List<String> of(QueueName queue);

  /** Whether the application is left alone for now because all that it was sent failed. */
  boolean isCircuitOpen(String application);

  /** The applications that are left alone for now. */
  List<String> openCircuits();
}
