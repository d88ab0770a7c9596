package io.punctual.server.config;

import io.punctual.core.queue.QueueName;
import java.util.List;

/** Which instances would get jobs of a queue, as seen from here. */
public interface WorkersSeen {

  /** Their ids in the registry. */
  List<String> of(QueueName queue);
}
