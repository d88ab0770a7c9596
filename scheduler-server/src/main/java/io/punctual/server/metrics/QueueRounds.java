package io.punctual.server.metrics;

import io.punctual.core.Engine;
import io.punctual.core.job.QueueName;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Fallback;
import org.springframework.stereotype.Component;

/**
 * Looks at all queues round by round, a few queues at a time: the store has its work to do, and
 * there may be thousands of queues. The gauges and the history show what a round saw, so that each
 * queue is read once for both.
 */
@Component
public class QueueRounds implements SmartLifecycle {

  private static final Logger log = LoggerFactory.getLogger(QueueRounds.class);

  /**
   * At most about so many buckets at once, and then a pause: less than a hundredth of a store's
   * time, for all schedulers together.
   */
  private static final int AT_ONCE = 100;

  /** For each bucket that is compared, and scheduler. */
  private static final Duration PAUSE = Duration.ofMillis(2);

  /** For each queue that is looked at, and scheduler. */
  private static final Duration LOOK_PAUSE = Duration.ofMillis(20);

  private final Engine engine;
  private final QueueStatistics statistics;
  private final Duration interval;
  private final Deque<Map.Entry<QueueName, Integer>> left = new ArrayDeque<>();
  private List<QueueName> round = new ArrayList<>();
  private long began = System.nanoTime();
  private volatile QueueStatistics.@Nullable Snapshot last;
  private volatile Consumer<QueueStatistics.@Nullable Snapshot> listener = any -> {};
  private volatile @Nullable ScheduledExecutorService thread;

  /**
   * How long it waits between two rounds; with more than a few hundred buckets a round itself takes
   * longer.
   */
  record Interval(Duration time) {}

  QueueRounds(Engine engine, QueueStatistics statistics, Interval interval) {
    this.engine = engine;
    this.statistics = statistics;
    this.interval = interval.time();
  }

  /** Tests have a shorter one. */
  @Bean
  @Fallback
  static Interval interval() {
    return new Interval(Duration.ofSeconds(5));
  }

  /**
   * Returns what the last round saw, with the time at which it ended; null before the first, and
   * after one that the store did not answer.
   */
  public QueueStatistics.@Nullable Snapshot last() {
    return last;
  }

  /** Tells the gauges of each round, and by null of one that failed. */
  void tell(Consumer<QueueStatistics.@Nullable Snapshot> gauges) {
    listener = gauges;
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
        began = System.nanoTime();
        left.addAll(engine.queues().entrySet());
      }
      int buckets = 0;
      List<QueueName> some = new ArrayList<>();
      while (buckets < AT_ONCE && !left.isEmpty()) {
        Map.Entry<QueueName, Integer> queue = left.remove();
        some.add(queue.getKey());
        buckets += queue.getValue();
      }
      int looked = statistics.update(some, 0);
      round.addAll(some);
      if (left.isEmpty()) {
        publish(statistics.snapshot(round, last, began));
      } else {
        wait =
            PAUSE
                .multipliedBy(buckets)
                .plus(LOOK_PAUSE.multipliedBy(looked))
                .multipliedBy(engine.members().size());
      }
    } catch (RuntimeException | Error e) {
      // Also an Error: it would be the last turn. The engine says when the store is away; what was
      // seen last is not true any more.
      log.atLevel(e instanceof Error ? Level.WARN : Level.DEBUG)
          .setCause(e)
          .log("The contents of the queues could not be read; trying again");
      left.clear();
      publish(null);
    }
    try {
      var unused = mine.schedule(() -> turn(mine), wait.toMillis(), TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      log.trace("stopped", e);
    }
  }

  private void publish(QueueStatistics.@Nullable Snapshot seen) {
    round = new ArrayList<>();
    last = seen;
    try {
      listener.accept(seen);
    } catch (RuntimeException | Error e) {
      // The history goes on without gauges.
      log.warn("The gauges of queues were not updated", e);
    }
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
