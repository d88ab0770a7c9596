package io.punctual.server.metrics;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.CountAtBucket;
import io.micrometer.core.instrument.distribution.HistogramSnapshot;
import io.punctual.core.job.QueueName;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * How late the jobs of the last minute began, by this scheduler, and what they waited for: from the
 * histograms that the metrics keep. A quantile is the upper edge of the bucket that it falls into;
 * infinite behind the last.
 */
@Component
public class RecentLateness {

  private static final String METRIC = "punctual.jobs.lateness";
  private static final long WINDOW_NS = 60_000_000_000L;
  private static final long[] NONE = {};

  /**
   * How many began by then, since the start: for each queue that has figures of its own, not later
   * than each edge, and at last all. And how long they waited in each stage, in ms.
   */
  private record Sample(long taken, Map<Meter.Id, long[]> counts, Map<Meter.Id, Double> waited) {}

  /**
   * What half of them, and 99 of 100 of them, were not later than.
   *
   * @param p50 ms
   * @param p99 ms
   */
  public record Quantiles(double p50, double p99) {}

  /**
   * What jobs waited for.
   *
   * @param mean how late they were, on average, in ms
   * @param parts those stages in which they waited, in their order
   */
  public record Split(double mean, List<Part> parts) {

    /** The stage in which they waited longest; null if they did not wait. */
    public @Nullable LatenessStage longest() {
      return parts.stream()
          .max(Comparator.comparingDouble(Part::percent))
          .map(Part::stage)
          .orElse(null);
    }
  }

  /**
   * A stage's part of the lateness.
   *
   * @param mean ms of a job's lateness, on average
   * @param begin percent of the stages before it
   * @param percent of all
   */
  public record Part(LatenessStage stage, double mean, double begin, double percent) {}

  /**
   * That of a queue.
   *
   * @param quantiles null where none of its jobs has begun here
   * @param split of the same jobs as the quantiles; null where there are none
   * @param together whether it is that of all queues without figures of their own
   * @param sinceStart whether no job began within a minute, so that this is of all since the start
   */
  public record OfQueue(
      @Nullable Quantiles quantiles, @Nullable Split split, boolean together, boolean sinceStart) {}

  private final MeterRegistry registry;
  // Kept, since the registry would search all meters at each look.
  private final Set<Timer> begun = ConcurrentHashMap.newKeySet();
  private final Set<Timer> stages = ConcurrentHashMap.newKeySet();
  private final Deque<Sample> samples = new ArrayDeque<>();
  // All timers of one name have the same edges.
  private double[] edges = {};

  RecentLateness(MeterRegistry registry) {
    this.registry = registry;
    registry.config().onMeterAdded(this::add);
    registry.getMeters().forEach(this::add);
  }

  private void add(Meter meter) {
    if (meter instanceof Timer timer) {
      switch (timer.getId().getName()) {
        case METRIC -> begun.add(timer);
        case LatenessStage.METRIC -> stages.add(timer);
        default -> {}
      }
    }
  }

  /** Looks at the metric again; null where no job began within a minute. */
  public synchronized @Nullable Quantiles look(long nanos) {
    Sample sample = sample(samples.peekLast(), nanos);
    while (samples.size() > 1 && nanos - samples.getFirst().taken() > WINDOW_NS) {
      samples.removeFirst();
    }
    samples.addLast(sample);
    if (isOld(samples.getFirst(), nanos)) {
      samples.removeFirst();
    }
    Map<Meter.Id, long[]> first = samples.getFirst().counts();
    return quantiles(edges, grown(sum(sample.counts().values()), sum(first.values())));
  }

  private Sample sample(@Nullable Sample before, long nanos) {
    // No job has begun since: there is nothing to read.
    if (before != null && begun.stream().allMatch(timer -> isSame(timer, before))) {
      return new Sample(nanos, before.counts(), before.waited());
    }
    Map<Meter.Id, long[]> counts = new HashMap<>();
    for (Timer timer : begun) {
      long[] same = before == null ? null : before.counts().get(timer.getId());
      if (same == null || !isSame(timer, same)) {
        HistogramSnapshot snapshot = timer.takeSnapshot();
        edges = edges(snapshot);
        same = counts(snapshot);
      }
      counts.put(timer.getId(), same);
    }
    Map<Meter.Id, Double> waited = new HashMap<>();
    for (Timer timer : stages) {
      waited.put(timer.getId(), timer.totalTime(TimeUnit.MILLISECONDS));
    }
    return new Sample(nanos, counts, waited);
  }

  private static boolean isSame(Timer timer, Sample before) {
    long[] counts = before.counts().get(timer.getId());
    return counts != null && isSame(timer, counts);
  }

  private static boolean isSame(Timer timer, long[] counts) {
    return counts.length > 1 && timer.count() == all(counts);
  }

  // The last sample is too old: what began since then is not of the last minute.
  private static boolean isOld(Sample sample, long nanos) {
    return nanos - sample.taken() > 2 * WINDOW_NS;
  }

  /** How late those of one queue began. */
  synchronized OfQueue of(QueueName queue, long nanos) {
    Timer own = timer(queue);
    Timer timer = own == null ? timer(QueueTags.OTHER) : own;
    if (timer == null) {
      return new OfQueue(null, null, false, false);
    }
    QueueName named = own == null ? QueueTags.OTHER : queue;
    HistogramSnapshot snapshot = timer.takeSnapshot();
    double[] edges = edges(snapshot);
    long[] now = counts(snapshot);
    Sample first = samples.peekFirst();
    if (first != null && !isOld(first, nanos)) {
      long[] grown = grown(now, first.counts().getOrDefault(timer.getId(), NONE));
      Quantiles recent = quantiles(edges, grown);
      if (recent != null) {
        return new OfQueue(recent, split(named, all(grown), first.waited()), own == null, false);
      }
    }
    return new OfQueue(quantiles(edges, now), split(named, all(now), Map.of()), own == null, true);
  }

  private @Nullable Split split(QueueName queue, long jobs, Map<Meter.Id, Double> before) {
    if (jobs <= 0) {
      return null;
    }
    Map<LatenessStage, Double> waited = new EnumMap<>(LatenessStage.class);
    for (LatenessStage stage : LatenessStage.values()) {
      Timer timer = registry.find(LatenessStage.METRIC).tags(stage.tags(queue)).timer();
      if (timer != null) {
        double ms = timer.totalTime(TimeUnit.MILLISECONDS);
        waited.put(stage, Math.max(0, ms - before.getOrDefault(timer.getId(), 0.0)));
      }
    }
    double sum = waited.values().stream().mapToDouble(ms -> ms).sum();
    List<Part> parts = new ArrayList<>();
    double begin = 0;
    for (Map.Entry<LatenessStage, Double> one : waited.entrySet()) {
      double percent = sum == 0 ? 0 : 100 * one.getValue() / sum;
      if (percent > 0) {
        parts.add(new Part(one.getKey(), one.getValue() / jobs, begin, percent));
      }
      begin += percent;
    }
    return new Split(sum / jobs, parts);
  }

  private @Nullable Timer timer(QueueName queue) {
    return registry.find(METRIC).tags(QueueTags.tags(queue)).timer();
  }

  private static double[] edges(HistogramSnapshot snapshot) {
    return Arrays.stream(snapshot.histogramCounts())
        .mapToDouble(bucket -> bucket.bucket(TimeUnit.MILLISECONDS))
        .toArray();
  }

  private static long[] counts(HistogramSnapshot snapshot) {
    CountAtBucket[] buckets = snapshot.histogramCounts();
    long[] counts = new long[buckets.length + 1];
    for (int i = 0; i < buckets.length; i++) {
      counts[i] = (long) buckets[i].count();
    }
    counts[buckets.length] = snapshot.count();
    return counts;
  }

  // All timers of one name have the same edges.
  private static long[] sum(Collection<long[]> all) {
    long[] sum = NONE;
    for (long[] counts : all) {
      if (sum.length < counts.length) {
        sum = Arrays.copyOf(sum, counts.length);
      }
      for (int i = 0; i < counts.length; i++) {
        sum[i] += counts[i];
      }
    }
    return sum;
  }

  private static long[] grown(long[] now, long[] before) {
    long[] grown = now.clone();
    for (int i = 0; i < Math.min(now.length, before.length); i++) {
      grown[i] -= before[i];
    }
    return grown;
  }

  private static long all(long[] counts) {
    return counts.length == 0 ? 0 : counts[counts.length - 1];
  }

  private static @Nullable Quantiles quantiles(double[] edges, long[] counts) {
    long all = all(counts);
    // Without edges nothing can be said.
    return all <= 0 || edges.length == 0
        ? null
        : new Quantiles(edge(edges, counts, all * 0.5), edge(edges, counts, all * 0.99));
  }

  // Counts are cumulative: the first edge by which so many had begun.
  private static double edge(double[] edges, long[] counts, double part) {
    for (int i = 0; i < edges.length; i++) {
      if (counts[i] >= Math.ceil(part)) {
        return edges[i];
      }
    }
    return Double.POSITIVE_INFINITY;
  }
}
