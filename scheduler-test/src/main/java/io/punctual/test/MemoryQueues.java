package io.punctual.test;

import io.punctual.core.job.Pause;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.QueueDirectory;
import io.punctual.test.store.InMemoryJobStore;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The names of queues, in memory. */
final class MemoryQueues implements QueueDirectory {

  private final Map<QueueName, Integer> buckets = new ConcurrentHashMap<>();
  private final Map<String, Pause> paused = new ConcurrentHashMap<>();
  private final LongSupplier clock;

  /**
   * @param clock the store's, epoch ms
   */
  MemoryQueues(LongSupplier clock) {
    this.clock = clock;
  }

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
    return new HashMap<>(buckets);
  }

  @Override
  public @Nullable Pause pause(String application, Pause.@Nullable Terms terms) {
    return paused.compute(
        application,
        (name, before) ->
            terms == null
                ? null
                : InMemoryJobStore.pause(
                    Pause.Scope.APPLICATION, before, terms, clock.getAsLong()));
  }

  @Override
  public Pauses pauses() {
    long now = clock.getAsLong();
    Map<String, Pause> going = new HashMap<>(paused);
    going.values().removeIf(pause -> !pause.goesOn(now));
    return new Pauses(now, going);
  }
}
