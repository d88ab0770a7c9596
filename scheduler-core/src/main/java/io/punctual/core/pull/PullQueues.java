package io.punctual.core.pull;

import io.punctual.core.job.QueueName;
import java.util.List;
import java.util.Optional;

/** The queues of a running engine, as pulls see them. */
public interface PullQueues {

  /** Whether scanners are at work. */
  boolean isRunning();

  /** The pulls that wait. */
  Pulls pulls();

  /** Returns the buckets of a queue, by their index, if it exists. May ask the store. */
  Optional<List<Puller>> find(QueueName queue);

  /** Returns the buckets of a queue, by their index, if it has been seen. Never asks the store. */
  Optional<List<Puller>> seen(QueueName queue);
}
