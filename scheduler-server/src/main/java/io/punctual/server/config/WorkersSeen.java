package io.punctual.server.config;

import io.punctual.core.job.QueueName;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The workers that get or fetch jobs, as this scheduler sees them. */
public interface WorkersSeen {

  /** The ids in the registry of the instances that would get jobs of a queue. */
  List<String> of(QueueName queue);

  /**
   * Says that no instance runs the jobs of a queue, and which name may be meant.
   *
   * @param others whether names of other applications may be told
   * @return null if an instance runs them, a worker fetched them here lately, or that is not known
   */
  @Nullable String unserved(QueueName queue, boolean others);

  /** Notes that a worker fetches jobs of these queues. */
  void pulled(List<QueueName> queues);
}
