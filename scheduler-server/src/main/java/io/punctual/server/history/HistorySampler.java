package io.punctual.server.history;

import io.punctual.core.store.StoreException;
import io.punctual.server.metrics.QueueRounds;
import io.punctual.server.metrics.QueueStatistics;
import io.punctual.server.metrics.RecentLateness;
import io.punctual.server.registry.SchedulerName;
import io.punctual.server.registry.WorkerDirectory;
import io.punctual.server.registry.WorkerInstance;
import io.punctual.server.work.RepeatedTask;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Fallback;
import org.springframework.core.env.Environment;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.stereotype.Component;

/**
 * Adds a point to the history every ten seconds, in one scheduler for all, and less often where a
 * round of looks at the queues takes longer.
 */
@Component
final class HistorySampler extends RepeatedTask {

  private static final Logger log = LoggerFactory.getLogger(HistorySampler.class);

  private static final long AGAIN_NS = TimeUnit.HOURS.toNanos(1);
  private static final long STEADY_MS = 5_000;

  private final History history;
  private final QueueRounds rounds;
  private final RecentLateness lateness;
  private final WorkerDirectory workers;
  private final Samplers samplers;
  private final String name;
  private final Map<String, Set<String>> releases = new HashMap<>();
  private long releasesSince = System.nanoTime();
  private QueueStatistics.@Nullable Snapshot before;
  // The longest of the turns since the last point, ms.
  private @Nullable Long p50;
  private @Nullable Long p99;
  private boolean told;

  /**
   * How often schedulers say that they are there, and sample.
   *
   * @param time how long each waits between two turns
   * @param life how long one counts that says nothing more
   */
  record Pace(Duration time, Duration life) {}

  HistorySampler(
      History history,
      QueueRounds rounds,
      RecentLateness lateness,
      WorkerDirectory workers,
      Environment environment,
      Pace pace) {
    super("history", pace.time().dividedBy(10), pace.time());
    this.history = history;
    this.rounds = rounds;
    this.lateness = lateness;
    this.workers = workers;
    this.samplers = history.samplers(pace.life());
    this.name = SchedulerName.of(environment);
  }

  /** Tests have a shorter one. */
  @Bean
  @Fallback
  static Pace pace() {
    return new Pace(Duration.ofSeconds(10), Duration.ofSeconds(25));
  }

  @Override
  protected void turn() {
    history.endBursts();
    try {
      sample();
    } catch (StoreException | DataAccessResourceFailureException e) {
      // The engine logs that Redis does not answer.
      log.debug("Nothing was sampled", e);
      before = null;
    }
  }

  private void sample() {
    long now = history.now();
    if (!told) {
      history.mark(Mark.Kind.START, name);
      told = true;
    }
    Samplers.Turn turn = samplers.turn(now, lateness.look(System.nanoTime()));
    if (!turn.mine()) {
      before = null;
      p50 = null;
      p99 = null;
      return;
    }
    p50 = later(p50, turn.p50());
    p99 = later(p99, turn.p99());
    look();
    noteReleases();
  }

  // A round may take longer than the minute whose lateness a turn tells.
  private static @Nullable Long later(@Nullable Long one, @Nullable Long other) {
    if (one == null || other == null) {
      return one == null ? other : one;
    }
    return Math.max(one, other);
  }

  private void look() {
    QueueStatistics.Snapshot taken = rounds.last();
    QueueStatistics.Snapshot last = before;
    before = taken;
    if (taken == null || last == null || taken.taken() == last.taken()) {
      return;
    }
    if (last.now() > 0 && taken.now() > last.now() && isSteady(last, taken)) {
      history.add(Point.between(last, taken, p50, p99));
    }
    p50 = null;
    p99 = null;
  }

  /** Returns whether Redis's clock advanced as ours did. If it was set, the length is unknown. */
  private static boolean isSteady(QueueStatistics.Snapshot before, QueueStatistics.Snapshot now) {
    long here = TimeUnit.NANOSECONDS.toMillis(now.taken() - before.taken());
    return Math.abs(now.now() - before.now() - here) < STEADY_MS;
  }

  private void noteReleases() {
    if (System.nanoTime() - releasesSince > AGAIN_NS) {
      releases.clear();
      releasesSince = System.nanoTime();
    }
    Map<String, Set<String>> seen = new HashMap<>();
    for (WorkerInstance instance : workers.all()) {
      String release = instance.metadata().release();
      if (release != null && !release.isBlank()) {
        seen.computeIfAbsent(instance.application(), any -> new TreeSet<>()).add(release);
      }
    }
    seen.forEach(
        (application, some) -> {
          Set<String> noted = releases.computeIfAbsent(application, any -> new HashSet<>());
          some.removeAll(noted);
          if (!some.isEmpty()) {
            history.releases(application, List.copyOf(some));
            noted.addAll(some);
          }
        });
  }

  @Override
  public void stop() {
    boolean running = isRunning();
    super.stop();
    if (running) {
      history.endAllBursts();
      try {
        samplers.leave();
      } catch (DataAccessException e) {
        // The others notice it, a little later.
        log.debug(
            "This scheduler's entry among the samplers was not removed; it expires in 25 s", e);
      }
    }
  }
}
