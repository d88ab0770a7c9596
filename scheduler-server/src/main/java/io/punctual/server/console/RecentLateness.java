package io.punctual.server.console;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.CountAtBucket;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * How late the jobs of the last minute began, by this scheduler: from the histogram that the metric
 * keeps. A quantile is the upper edge of the bucket that it falls into.
 */
@Component
class RecentLateness {

  private static final String METRIC = "punctual.jobs.lateness";
  private static final long WINDOW_NS = 60_000_000_000L;

  /** How many began by then, since the start; by upper edge in ms. */
  private record Sample(long taken, Map<Double, Long> counts) {}

  /**
   * What half of them, and 99 of 100 of them, were not later than.
   *
   * @param p50 ms
   * @param p99 ms
   */
  record Quantiles(double p50, double p99) {}

  private final MeterRegistry registry;
  private final Deque<Sample> samples = new ArrayDeque<>();

  RecentLateness(MeterRegistry registry) {
    this.registry = registry;
  }

  /** Looks at the metric again; null where no job began within a minute. */
  synchronized @Nullable Quantiles look(long nanos) {
    Map<Double, Long> counts = new TreeMap<>();
    for (Timer timer : registry.find(METRIC).timers()) {
      for (CountAtBucket bucket : timer.takeSnapshot().histogramCounts()) {
        counts.merge(bucket.bucket(TimeUnit.MILLISECONDS), (long) bucket.count(), Long::sum);
      }
    }
    while (samples.size() > 1 && nanos - samples.getFirst().taken() > WINDOW_NS) {
      samples.removeFirst();
    }
    samples.addLast(new Sample(nanos, counts));
    Map<Double, Long> before = samples.getFirst().counts();
    Map<Double, Long> grown = new TreeMap<>();
    counts.forEach((edge, count) -> grown.put(edge, count - before.getOrDefault(edge, 0L)));
    long all = grown.values().stream().mapToLong(Long::longValue).max().orElse(0);
    return all == 0 ? null : new Quantiles(edge(grown, all, 0.5), edge(grown, all, 0.99));
  }

  // Counts are cumulative: the first edge by which so many had begun.
  private static double edge(Map<Double, Long> grown, long all, double part) {
    return grown.entrySet().stream()
        .filter(entry -> entry.getValue() >= Math.ceil(all * part))
        .mapToDouble(Map.Entry::getKey)
        .findFirst()
        .orElse(Double.POSITIVE_INFINITY);
  }
}
