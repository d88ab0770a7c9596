package io.punctual.server.metrics;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.punctual.core.QueueStats;
import io.punctual.core.job.QueueName;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * What is in the queues, as {@link QueueRounds} saw it last. A queue that was never seen with
 * anything in it has no gauges.
 */
@Component
@ConditionalOnPunctualMetrics
final class QueueGauges {

  private final MeterRegistry registry;
  private final QueueTags tags;
  private volatile Map<QueueName, Sample> seen = Map.of();
  private final Map<QueueName, QueueName> shown = new ConcurrentHashMap<>();

  /**
   * What is in a queue, or in several.
   *
   * @param oldest the age of the oldest that is ready, ms
   * @param next epoch ms at which the next falls due; null for none
   * @param pausedAge for how long it has been paused, ms
   * @param damaged whether that is not all of it, since keys in the store are damaged
   */
  private record Sample(
      long notDue,
      long ready,
      long reserved,
      long dead,
      long oldest,
      @Nullable Long next,
      int parked,
      int paused,
      long pausedAge,
      int circuits,
      int failing,
      boolean damaged) {

    static final Sample NONE = new Sample(0, 0, 0, 0, 0, null, 0, 0, 0, 0, 0, false);

    static Sample of(QueueSample queue) {
      QueueStats stats = queue.stats();
      return new Sample(
          stats.delayed() - stats.ready(),
          stats.ready(),
          stats.reserved(),
          stats.dead(),
          queue.readyAge(),
          stats.nextDue(),
          queue.parked() ? 1 : 0,
          queue.paused() || queue.closed() ? 1 : 0,
          queue.pausedAge(),
          queue.circuitOpen() ? 1 : 0,
          queue.failing() ? 1 : 0,
          queue.damaged());
    }

    double nextSeconds() {
      Long due = next;
      return due == null ? Double.NaN : due / 1e3;
    }

    boolean isEmpty() {
      return !damaged
          && notDue + ready + reserved + dead + parked + paused + circuits + failing == 0;
    }

    Sample and(Sample more) {
      Long first = next;
      Long second = more.next;
      return new Sample(
          notDue + more.notDue,
          ready + more.ready,
          reserved + more.reserved,
          dead + more.dead,
          Math.max(oldest, more.oldest),
          first == null || (second != null && second < first) ? second : first,
          parked + more.parked,
          paused + more.paused,
          Math.max(pausedAge, more.pausedAge),
          circuits + more.circuits,
          failing + more.failing,
          damaged || more.damaged);
    }
  }

  QueueGauges(QueueRounds rounds, MeterRegistry registry, QueueTags tags) {
    this.registry = registry;
    this.tags = tags;
    rounds.tell(this::show);
  }

  private void show(QueueStatistics.@Nullable Snapshot round) {
    Map<QueueName, Sample> samples = new HashMap<>();
    if (round != null) {
      round.queues().forEach((queue, found) -> add(queue, Sample.of(found), samples));
    }
    seen = samples;
  }

  private void add(QueueName queue, Sample sample, Map<QueueName, Sample> samples) {
    if (sample.isEmpty() && !shown.containsKey(queue)) {
      return;
    }
    QueueName name = tags.of(queue);
    samples.merge(name, sample, Sample::and);
    var unused = shown.computeIfAbsent(name, this::show);
  }

  private QueueName show(QueueName queue) {
    Tags of = QueueTags.tags(queue);
    String jobs = "Jobs in the queue by state, as they were seen last";
    gauge("punctual.queue.jobs", jobs, of.and("state", "not_due"), queue, Sample::notDue);
    gauge("punctual.queue.jobs", jobs, of.and("state", "ready"), queue, Sample::ready);
    gauge("punctual.queue.jobs", jobs, of.and("state", "reserved"), queue, Sample::reserved);
    gauge("punctual.queue.jobs", jobs, of.and("state", "dead"), queue, Sample::dead);
    seconds(
        "punctual.queue.oldest.ready.age",
        "For how long the oldest job has been due that no worker has taken",
        of,
        queue,
        sample -> sample.oldest() / 1e3);
    seconds(
        "punctual.queue.next.due.timestamp",
        "Unix time at which the next job falls due",
        of,
        queue,
        Sample::nextSeconds);
    gauge(
        "punctual.queue.parked",
        "1 while jobs are due and no worker is there to take them",
        of,
        queue,
        Sample::parked);
    gauge(
        "punctual.queue.paused",
        "1 while the queue or its application is paused, and outside of its hours",
        of,
        queue,
        Sample::paused);
    seconds(
        "punctual.queue.paused.age",
        "For how long the queue or its application has been paused; 0 if it is not",
        of,
        queue,
        sample -> sample.pausedAge() / 1e3);
    gauge(
        "punctual.queue.circuit.open",
        "1 while jobs wait because all that this scheduler sent failed",
        of,
        queue,
        Sample::circuits);
    gauge(
        "punctual.queue.failing",
        "1 while 10 % or more of the last minute's attempts failed, of 15 minutes' where they are few",
        of,
        queue,
        Sample::failing);
    return queue;
  }

  private void gauge(
      String name, String description, Tags of, QueueName queue, ToDoubleFunction<Sample> value) {
    Gauge.builder(name, () -> value(queue, value))
        .description(description)
        .tags(of)
        .register(registry);
  }

  private void seconds(
      String name, String description, Tags of, QueueName queue, ToDoubleFunction<Sample> value) {
    Gauge.builder(name, () -> value(queue, value))
        .baseUnit("seconds")
        .description(description)
        .tags(of)
        .register(registry);
  }

  private double value(QueueName queue, ToDoubleFunction<Sample> value) {
    Map<QueueName, Sample> last = seen;
    if (last.isEmpty()) {
      return Double.NaN;
    }
    Sample sample = last.getOrDefault(queue, Sample.NONE);
    // Those that share a name are worth their sum without it, too.
    return sample.damaged() && !queue.equals(QueueTags.OTHER)
        ? Double.NaN
        : value.applyAsDouble(sample);
  }
}
