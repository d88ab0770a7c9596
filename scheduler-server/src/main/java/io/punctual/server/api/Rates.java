package io.punctual.server.api;

import io.punctual.core.QueueStats;
import io.punctual.core.job.QueueName;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * How fast the counters of a queue grow, from what this scheduler saw when it was asked before: the
 * average since the earliest look of the last minute. Whoever asks for the first time gets none.
 */
@Component
class Rates {

  private static final long WINDOW_MS = 60_000;
  private static final long APART_MS = 1_000;
  private static final int MAX_QUEUES = 10_000;

  private record Sample(long now, Map<String, Long> counters) {}

  private final Map<QueueName, Deque<Sample>> samples =
      new LinkedHashMap<>(16, 0.75f, /* accessOrder= */ true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<QueueName, Deque<Sample>> eldest) {
          return size() > MAX_QUEUES;
        }
      };

  /** Per second and counter, with the length of time that they are the average of; or null. */
  synchronized @Nullable Map<String, Object> of(QueueStats stats) {
    Deque<Sample> seen = samples.computeIfAbsent(stats.queue(), queue -> new ArrayDeque<>());
    while (!seen.isEmpty() && stats.now() - seen.getFirst().now() > WINDOW_MS) {
      seen.removeFirst();
    }
    Map<String, Object> rates = null;
    if (!seen.isEmpty() && stats.now() > seen.getFirst().now()) {
      rates = new TreeMap<>();
      double seconds = (stats.now() - seen.getFirst().now()) / 1000.0;
      Map<String, Long> before = seen.getFirst().counters();
      for (Map.Entry<String, Long> counter : stats.counters().entrySet()) {
        long grown = counter.getValue() - before.getOrDefault(counter.getKey(), 0L);
        rates.put(counter.getKey(), Math.round(Math.max(0, grown) / seconds * 1000) / 1000.0);
      }
      rates.put("overMs", stats.now() - seen.getFirst().now());
    }
    if (seen.isEmpty() || stats.now() - seen.getLast().now() >= APART_MS) {
      seen.addLast(new Sample(stats.now(), stats.counters()));
    }
    return rates;
  }
}
