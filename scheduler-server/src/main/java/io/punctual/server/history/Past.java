package io.punctual.server.history;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** The samples of a time span. */
public final class Past {

  // Two looks are never quite at the same time; less is no gap.
  private static final long SEAM_MS = 1_500;

  private final Span span;
  private final long until;
  private final List<Point> points;
  private final List<Mark> marks;
  private final int unreadable;

  /**
   * @param until epoch ms of its end
   * @param points ascending; none overlap
   * @param marks ascending
   * @param unreadable how many entries in Redis are neither
   */
  Past(Span span, long until, List<Point> points, List<Mark> marks, int unreadable) {
    this.span = span;
    this.until = until;
    this.points = List.copyOf(points);
    // Some may be newer than the newest point.
    this.marks = marks.stream().filter(mark -> mark.at() > from()).toList();
    this.unreadable = unreadable;
  }

  /**
   * A part of the span.
   *
   * @param from epoch ms
   * @param until epoch ms
   * @param figures null if no scheduler sampled at least half of it
   */
  public record Interval(long from, long until, @Nullable Figures figures) {}

  /**
   * What was seen in an interval.
   *
   * @param submitted jobs a second
   * @param done jobs a second
   * @param failed attempts a second
   * @param died jobs a second
   * @param notDue the most waiting jobs that were not due
   * @param ready the most jobs that were due
   * @param reserved the most jobs in flight
   * @param p50 ms that half of the jobs were late at most, at the worst moment; null for no job
   * @param p99 ms that 99 of 100 jobs were late at most, at the worst moment; null for no job
   */
  public record Figures(
      double submitted,
      double done,
      double failed,
      double died,
      long notDue,
      long ready,
      long reserved,
      @Nullable Long p50,
      @Nullable Long p99) {}

  /** A time in which no scheduler sampled, in epoch ms. */
  public record Gap(long from, long until) {}

  public Span span() {
    return span;
  }

  /** Returns a text that differs whenever something of it does. */
  public String seen() {
    return until + " " + points + " " + marks + " " + unreadable;
  }

  /** Returns its beginning, epoch ms. */
  public long from() {
    return until - span.length().toMillis();
  }

  /** Returns its end, epoch ms. */
  public long until() {
    return until;
  }

  /** Returns the marks, oldest first. */
  public List<Mark> marks() {
    return marks;
  }

  /** Returns how many entries in Redis could not be read, of those that were looked at. */
  public int unreadable() {
    return unreadable;
  }

  /** Returns whether nothing was sampled. */
  public boolean isEmpty() {
    return points.isEmpty();
  }

  /**
   * Returns all intervals, oldest first.
   *
   * @param length of an interval
   */
  public List<Interval> intervals(Duration length) {
    long width = length.toMillis();
    List<Interval> intervals = new ArrayList<>();
    int first = 0;
    for (long begin = from(); begin < until; begin += width) {
      long end = begin + width;
      while (first < points.size() && points.get(first).at() <= begin) {
        first++;
      }
      intervals.add(new Interval(begin, end, figures(begin, end, first)));
    }
    return intervals;
  }

  private @Nullable Figures figures(long begin, long end, int first) {
    double[] sums = new double[4];
    long[] most = new long[3];
    Long p50 = null;
    Long p99 = null;
    long seen = 0;
    for (int i = first; i < points.size() && points.get(i).begin() < end; i++) {
      Point point = points.get(i);
      long ms = Math.min(end, point.at()) - Math.max(begin, point.begin());
      double part = (double) ms / point.ms();
      seen += ms;
      sums[0] += part * point.submitted();
      sums[1] += part * point.done();
      sums[2] += part * point.failed();
      sums[3] += part * point.died();
      most[0] = Math.max(most[0], point.notDue());
      most[1] = Math.max(most[1], point.ready());
      most[2] = Math.max(most[2], point.reserved());
      p50 = later(p50, point.p50());
      p99 = later(p99, point.p99());
    }
    if (seen * 2 < end - begin) {
      return null;
    }
    double seconds = seen / 1_000.0;
    return new Figures(
        sums[0] / seconds,
        sums[1] / seconds,
        sums[2] / seconds,
        sums[3] / seconds,
        most[0],
        most[1],
        most[2],
        p50,
        p99);
  }

  private static @Nullable Long later(@Nullable Long one, @Nullable Long other) {
    return one == null || (other != null && other > one) ? other : one;
  }

  /** Returns the times in which no scheduler sampled, oldest first. */
  public List<Gap> gaps() {
    List<Gap> gaps = new ArrayList<>();
    long known = from();
    for (Point point : points) {
      if (point.begin() - known > SEAM_MS) {
        gaps.add(new Gap(known, point.begin()));
      }
      known = Math.max(known, point.at());
    }
    if (until - known > SEAM_MS) {
      gaps.add(new Gap(known, until));
    }
    return gaps;
  }

  /** Returns how many jobs were done in the times that were sampled. */
  public long done() {
    return points.stream().mapToLong(Point::done).sum();
  }

  /** Returns how many jobs were submitted in the times that were sampled. */
  public long submitted() {
    return points.stream().mapToLong(Point::submitted).sum();
  }

  /** Returns how many attempts failed in the times that were sampled. */
  public long failed() {
    return points.stream().mapToLong(Point::failed).sum();
  }

  /**
   * Returns the most jobs that were seen done within a time of that length.
   *
   * @param width ms
   * @return empty if less time was sampled
   */
  public OptionalLong most(long width) {
    double best = -1;
    double sum = 0;
    int first = 0;
    for (Point last : points) {
      long begin = last.at() - width;
      sum += last.done();
      while (points.get(first).at() <= begin) {
        sum -= points.get(first).done();
        first++;
      }
      Point oldest = points.get(first);
      double outside = (double) Math.max(0, begin - oldest.begin()) / oldest.ms();
      if (points.get(0).begin() <= begin) {
        best = Math.max(best, sum - outside * oldest.done());
      }
    }
    return best < 0 ? OptionalLong.empty() : OptionalLong.of(Math.round(best));
  }
}
