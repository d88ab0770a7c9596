package io.punctual.server.metrics;

import io.punctual.core.QueueStats;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.Map;
import java.util.Objects;
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

  // Figures that change with time alone are read again after this time.
  private static final long AGAIN_MS = MINUTE_MS;

  private record Point(long at, Map<String, Long> counters, boolean hasInstances) {}

  private final Deque<Point> points = new ArrayDeque<>();
  // One a minute.
  private final Deque<Point> quarter = new ArrayDeque<>();
  private @Nullable Long drainedAt;
  private @Nullable QueueSample last;
  private @Nullable String stamp;
  private boolean pulledHere;
  // Whether the last look showed no movement, and whether it has figures that age.
  private boolean still;
  private boolean aging;
  private long lookedAt;
  // The time of the last read, or of the last comparison that found no change.
  private long checkedAt;

  /**
   * Adds a look, and returns what it shows together with those before.
   *
   * @param askedAt when the store was asked, monotonic ns
   * @param stamp what the store said of the queue before the look; null if it was not asked
   */
  synchronized QueueSample add(
      QueueStats stats,
      long askedAt,
      int instances,
      boolean circuitOpen,
      boolean pulledHere,
      RecentErrors.@Nullable Common error,
      @Nullable String stamp) {
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
      remember(stats.now(), stats.counters(), instances > 0);
    }
    long older = last == null ? 0 : last.stats().now() - stats.now();
    if (older > 0 && older <= APART_MS) {
      // Of two looks at once, this one was made first.
      return sample;
    }
    // Two reads within one millisecond cannot be ordered: keep no stamp, so the next comparison
    // reads the queue again. Also keep none if the stamp is older than another read, since a change
    // and its reversal give the same stamp.
    this.stamp = last != null && older == 0 ? null : stamp;
    last = sample;
    still = isStill(sample);
    // The calendars that close a queue are not part of its stamp.
    aging = stats.deadInHour() > 0 || stats.closedUntil() != null || !sample.quarter().isNone();
    this.pulledHere = pulledHere;
    lookedAt = askedAt;
    checkedAt = askedAt;
    return sample;
  }

  /** What the last look showed; null if it was too long ago to be true still. */
  synchronized @Nullable QueueSample last() {
    return System.nanoTime() - checkedAt > TimeUnit.MILLISECONDS.toNanos(MOST_MS) ? null : last;
  }

  /** What the last look showed; null before the first. */
  synchronized @Nullable QueueSample latest() {
    return last;
  }

  /** What has to be done to know how a queue is now. */
  enum Due {
    NOTHING,
    /** Read its stamp, and look if that has changed. */
    COMPARE,
    LOOK
  }

  /**
   * Returns what to do.
   *
   * @param now monotonic ns
   * @param ageNs how old a comparison of a queue that rests may be
   * @param lookNs the maximum age of the last read of a queue that does not rest
   */
  synchronized Due due(long now, long ageNs, long lookNs) {
    if (last == null) {
      return Due.COMPARE;
    }
    boolean rests = rests(now);
    if (now - checkedAt < (rests ? ageNs : lookNs)) {
      return Due.NOTHING;
    }
    return rests ? Due.COMPARE : Due.LOOK;
  }

  /**
   * Returns whether the last look stays true until the store says that the queue has changed: no
   * job is due or in flight, none has fallen due since, and no figure depends on the time.
   */
  synchronized boolean rests(long now) {
    QueueSample sample = last;
    if (sample == null) {
      return false;
    }
    long since = TimeUnit.NANOSECONDS.toMillis(now - lookedAt);
    return rests(sample, since, sample.stats().now() + since);
  }

  private boolean rests(QueueSample sample, long since, long now) {
    QueueStats stats = sample.stats();
    return still
        && (!aging || since < AGAIN_MS)
        && (stats.nextDue() == null || now < stats.nextDue())
        && (stats.closedUntil() == null || now < stats.closedUntil());
  }

  private static boolean isStill(QueueSample sample) {
    QueueStats stats = sample.stats();
    return !stats.isDamaged()
        && stats.ready() == 0
        && stats.reserved() == 0
        && stats.pauses().isEmpty()
        // When the hours end is not known here.
        && stats.openSince() == null
        && !sample.circuitOpen()
        && sample.minute().isNone();
  }

  /**
   * Compares what the store says of the queue with what it said before the last look.
   *
   * @param now the store's time, epoch ms; in Redis Cluster, that of another node
   * @param askedAt when the store was asked, monotonic ns
   * @param stamp differs whenever the queue has changed; empty if it cannot be read
   * @param circuitOpen as at a look, which is needed if it or what follows has changed
   * @return whether it must be looked at
   */
  synchronized boolean hasChanged(
      long now,
      long askedAt,
      String stamp,
      int instances,
      boolean circuitOpen,
      boolean pulledHere,
      RecentErrors.@Nullable Common error) {
    QueueSample sample = last;
    if (sample == null) {
      return true;
    }
    long since = TimeUnit.NANOSECONDS.toMillis(askedAt - lookedAt);
    long at = sample.stats().now() + since;
    boolean same =
        !stamp.isEmpty()
            && stamp.equals(this.stamp)
            && instances == sample.instances()
            && circuitOpen == sample.circuitOpen()
            && pulledHere == this.pulledHere
            && Objects.equals(error, sample.error())
            && rests(sample, since, at)
            // Also where the store's clock was set forward.
            && rests(sample, 0, now);
    if (same) {
      checkedAt = Math.max(checkedAt, askedAt);
      forget(at);
      remember(at, sample.stats().counters(), instances > 0);
    }
    return !same;
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

  private void remember(long now, Map<String, Long> seen, boolean hasInstances) {
    Point latest = points.peekLast();
    if (latest == null || now - latest.at() >= APART_MS) {
      // Most queues rest: their counters are kept once.
      Map<String, Long> counters =
          latest != null && latest.counters().equals(seen) ? latest.counters() : seen;
      Point point = new Point(now, counters, hasInstances);
      points.addLast(point);
      Point last = quarter.peekLast();
      if (last == null || now - last.at() >= MINUTE_MS) {
        quarter.addLast(point);
      }
    }
  }
}
