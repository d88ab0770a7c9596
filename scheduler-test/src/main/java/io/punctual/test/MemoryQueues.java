package io.punctual.test;

import io.punctual.core.job.QueueName;
import io.punctual.core.store.QueueDirectory;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;

/** The names of queues, in memory. */
final class MemoryQueues implements QueueDirectory {

  private final Map<QueueName, Integer> buckets = new ConcurrentHashMap<>();

  @Override
  public synchronized OptionalInt register(QueueName queue, int wanted, int max) {
    long others =
        buckets.keySet().stream()
            .filter(name -> name.application().equals(queue.application()))
            .count();
    if (!buckets.containsKey(queue) && others >= max) {
      return OptionalInt.empty();
    }
    return OptionalInt.of(buckets.computeIfAbsent(queue, name -> wanted));
  }

  @Override
  public OptionalInt buckets(QueueName queue) {
    Integer known = buckets.get(queue);
    return known == null ? OptionalInt.empty() : OptionalInt.of(known);
  }

  @Override
  public long count() {
    return buckets.size();
  }

  @Override
  public Map<QueueName, Integer> all() {
    return Map.copyOf(buckets);
  }
}
