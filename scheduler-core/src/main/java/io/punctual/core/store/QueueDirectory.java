package io.punctual.core.store;

import io.punctual.core.job.Pause;
import io.punctual.core.job.QueueName;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** The names of all queues, with their numbers of buckets; kept in the store. */
public interface QueueDirectory {

  /**
   * Makes sure that the queue is known before its first job is stored.
   *
   * @param buckets how many buckets a new queue gets; a known one keeps its number
   * @return how many buckets the queue has
   */
  default int register(QueueName queue, int buckets) {
    return register(queue, buckets, Integer.MAX_VALUE).orElseThrow();
  }

  /**
   * As {@link #register(QueueName, int)}, unless the application has too many queues.
   *
   * @param max most queues of the application
   * @return how many buckets the queue has; empty if it is not known, and was not made because its
   *     application has so many already
   */
  OptionalInt register(QueueName queue, int buckets, int max);

  /** How many buckets a queue has; empty if it is not known. */
  OptionalInt buckets(QueueName queue);

  /** How many queues there are. */
  long count();

  /** All queues and their numbers of buckets. */
  Map<QueueName, Integer> all();

  /**
   * Keeps the pause of an application, for its queues that begin later, or ends it. One that goes
   * on keeps its beginning and gets the new terms.
   *
   * @param terms null ends it
   * @return the pause; null if it ended
   */
  @Nullable Pause pause(String application, Pause.@Nullable Terms terms);

  /** The pauses of applications that go on. */
  Pauses pauses();

  /**
   * Pauses by the name of the application.
   *
   * @param now epoch ms of the store
   */
  record Pauses(long now, Map<String, Pause> of) {}
}
