package io.punctual.test;

import io.punctual.core.queue.QueueName;
import io.punctual.core.store.QueueDirectory;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;

/** The names of queues, in memory. */
final class MemoryQueues implements QueueDirectory {

  private final Map<QueueName, Integer> buckets = new ConcurrentHashMap<>();

  @Override
  public int register(QueueName queue, int wanted) {
    Integer before = buckets.putIfAbsent(queue, wanted);
    return before == null ? wanted : before;
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
