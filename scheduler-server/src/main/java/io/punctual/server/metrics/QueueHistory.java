package io.punctual.server.metrics;

import io.punctual.core.QueueStats;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The last minute and the last 15 minutes of one queue, from all looks at it. Times are the
 * store's.
 */
final class QueueHistory {

  /** Over less, the growth of a counter is no rate. */
  static final long APART_MS = 1_000;

  private static final long MINUTE_MS = 60_000;
  private static final long QUARTER_MS = 15 * MINUTE_MS;
  // Where queues are many, the looks at one of them lie further apart than a minute.
  private static final long MOST_MS = 300_000;

  private record Point(long at, Map<String, Long> counters, boolean hasInstances) {}

  private final Deque<Point> points = new ArrayDeque<>();
  // One a minute.
  private final Deque<Point> quarter = new ArrayDeque<>();
  private @Nullable Long drainedAt;
  private @Nullable QueueSample last;
  private long lookedAt;

  /** Adds a look, and returns what it shows together with those before. */
  synchronized QueueSample add(
      QueueStats stats,
      int instances,
      boolean circuitOpen,
      boolean pulledHere,
      RecentErrors.@Nullable Common error) {
    QueueSample sample;
    if (stats.isDamaged()) {
      points.clear();
      quarter.clear();
      sample =
          new QueueSample(
              stats,
              Growth.NONE,
              Growth.NONE,
              Growth.NONE,
              instances,
              circuitOpen,
              pulledHere,
              error);
    } else {
      forgetOtherStore(stats);
      forget(stats.now());
      noteDrain(stats, instances > 0);
      Point first = points.peekFirst();
      Point before = before(stats.now());
      Long drained = drainedAt;
      boolean pulled =
          pulledHere
              || (drained != null && stats.now() - drained < MINUTE_MS)
              // A worker that fetched it at another scheduler has it, as its lease says.
              || (instances == 0 && stats.reserved() > 0);
      sample =
          new QueueSample(
              stats,
              since(first, stats),
              since(quarter.peekFirst(), stats),
              since(before, stats),
              instances,
              circuitOpen,
              pulled,
              error);
      remember(stats, instances > 0);
    }
    last = sample;
    lookedAt = System.nanoTime();
    return sample;
  }

  /** What the last look showed; null if it was too long ago to be true still. */
  synchronized @Nullable QueueSample last() {
    return System.nanoTime() - lookedAt > TimeUnit.MILLISECONDS.toNanos(MOST_MS) ? null : last;
  }

  /** Redis was emptied, came back older, or its clock was set back: nothing can be compared. */
  private void forgetOtherStore(QueueStats stats) {
    Point first = points.peekFirst();
    Point latest = points.peekLast();
    if (first != null
        && latest != null
        && (latest.at() - stats.now() > APART_MS
            || first.counters().entrySet().stream()
                .anyMatch(
                    seen -> stats.counters().getOrDefault(seen.getKey(), 0L) < seen.getValue()))) {
      points.clear();
      quarter.clear();
      drainedAt = null;
    }
  }

  private void forget(long now) {
    Point first = points.pollFirst();
    while (first != null && !points.isEmpty() && now - points.getFirst().at() >= MINUTE_MS) {
      first = points.pollFirst();
    }
    if (first != null && now - first.at() <= MOST_MS) {
      points.addFirst(first);
    }
    while (!quarter.isEmpty() && now - quarter.getFirst().at() > QUARTER_MS) {
      quarter.removeFirst();
    }
  }

  /** Jobs end although no instance is registered: another scheduler's pullers take them. */
  private void noteDrain(QueueStats stats, boolean hasInstances) {
    Point latest = points.peekLast();
    if (latest != null
        && !latest.hasInstances()
        && !hasInstances
        && Growth.between(latest.counters(), stats.counters(), 0)
                .count("done", "failed", "rejected")
            > 0) {
      drainedAt = stats.now();
    }
  }

  private @Nullable Point before(long now) {
    Iterator<Point> latestFirst = points.descendingIterator();
    while (latestFirst.hasNext()) {
      Point point = latestFirst.next();
      if (now - point.at() >= APART_MS) {
        return point;
      }
    }
    return null;
  }

  private static Growth since(@Nullable Point point, QueueStats stats) {
    return point == null || stats.now() - point.at() < APART_MS
        ? Growth.NONE
        : Growth.between(point.counters(), stats.counters(), stats.now() - point.at());
  }

  private void remember(QueueStats stats, boolean hasInstances) {
    Point latest = points.peekLast();
    if (latest == null || stats.now() - latest.at() >= APART_MS) {
      // Most queues rest: their counters are kept once.
      Map<String, Long> counters =
          latest != null && latest.counters().equals(stats.counters())
              ? latest.counters()
              : stats.counters();
      Point point = new Point(stats.now(), counters, hasInstances);
      points.addLast(point);
      Point last = quarter.peekLast();
      if (last == null || stats.now() - last.at() >= MINUTE_MS) {
        quarter.addLast(point);
      }
    }
  }
}
