package io.punctual.server.metrics;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.punctual.core.Engine;
import io.punctual.core.QueueStats;
import io.punctual.core.job.QueueName;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Fallback;
import org.springframework.stereotype.Component;

/**
 * Looks from time to time at what is in the queues, a few at a time: the store has its work to do,
 * and there may be thousands of queues. A scrape reads what was seen last.
 */
@Component
@ConditionalOnPunctualMetrics
final class QueueGauges implements SmartLifecycle {

  private static final Logger log = LoggerFactory.getLogger(QueueGauges.class);

  /**
   * At most about so many buckets at once, and then a pause: less than a hundredth of a store's
   * time, for all schedulers together.
   */
  private static final int AT_ONCE = 10;

  /** For each bucket and scheduler. */
  private static final Duration PAUSE = Duration.ofMillis(20);

  private final Engine engine;
  private final QueueStatistics statistics;
  private final MeterRegistry registry;
  private final QueueTags tags;
  private final Duration interval;
  private final Deque<Map.Entry<QueueName, Integer>> left = new ArrayDeque<>();
  private Map<QueueName, Sample> round = new HashMap<>();
  private volatile Map<QueueName, Sample> seen = Map.of();
  private final Map<QueueName, QueueName> shown = new ConcurrentHashMap<>();
  private volatile @Nullable ScheduledExecutorService thread;

  /**
   * How long it waits between two rounds; with more than a few hundred buckets a round itself takes
   * longer.
   */
  record Interval(Duration time) {}

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

  QueueGauges(
      Engine engine,
      QueueStatistics statistics,
      MeterRegistry registry,
      QueueTags tags,
      Interval interval) {
    this.engine = engine;
    this.statistics = statistics;
    this.registry = registry;
    this.tags = tags;
    this.interval = interval.time();
  }

  /** Tests have a shorter one. */
  @Bean
  @Fallback
  static Interval interval() {
    return new Interval(Duration.ofSeconds(5));
  }

  @Override
  public void start() {
    ScheduledExecutorService started =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("queue-sampler").factory());
    thread = started;
    started.execute(() -> turn(started));
  }

  private void turn(ScheduledExecutorService mine) {
    Duration wait = interval;
    try {
      if (left.isEmpty()) {
        left.addAll(engine.queues().entrySet());
      }
      int buckets = 0;
      while (buckets < AT_ONCE && !left.isEmpty()) {
        Map.Entry<QueueName, Integer> queue = left.remove();
        look(queue.getKey());
        buckets += queue.getValue();
      }
      if (left.isEmpty()) {
        seen = round;
        round = new HashMap<>();
      } else {
        wait = PAUSE.multipliedBy((long) buckets * engine.members());
      }
    } catch (RuntimeException | Error e) {
      // Also an Error: it would be the last turn. The engine says when the store is away; what was
      // seen last is not true any more.
      log.atLevel(e instanceof Error ? Level.WARN : Level.DEBUG)
          .setCause(e)
          .log("What is in the queues could not be seen; trying again");
      left.clear();
      round = new HashMap<>();
      seen = Map.of();
    }
    try {
      var unused = mine.schedule(() -> turn(mine), wait.toMillis(), TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      log.trace("stopped", e);
    }
  }

  private void look(QueueName queue) {
    QueueSample found = statistics.look(queue).orElse(null);
    if (found == null) {
      return;
    }
    Sample sample = Sample.of(found);
    if (sample.isEmpty() && !shown.containsKey(queue)) {
      return;
    }
    QueueName name = tags.of(queue);
    round.merge(name, sample, Sample::and);
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

  @Override
  public void stop() {
    ScheduledExecutorService running = thread;
    thread = null;
    if (running != null) {
      running.shutdownNow();
    }
  }

  @Override
  public boolean isRunning() {
    return thread != null;
  }

  // As the web server: what is scraped then still has its values.
  @Override
  public int getPhase() {
    return SmartLifecycle.DEFAULT_PHASE - 2048;
  }
}
