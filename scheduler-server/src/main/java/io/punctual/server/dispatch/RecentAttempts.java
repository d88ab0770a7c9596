package io.punctual.server.dispatch;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.stream.IntStream;

/**
 * Counts the attempts of one instance in the last 15 minutes, in slices of a minute: at most 4 kB.
 * Guarded by its owner.
 */
final class RecentAttempts {

  static final int MINUTES = 15;

  private static final long MINUTE_NS = Duration.ofMinutes(1).toNanos();
  // Upper edges of durations: 1 ms, and each the square root of 2 times the one before, to 3 hours.
  private static final double[] EDGES_MS =
      IntStream.range(0, 48).mapToDouble(i -> Math.pow(2, i / 2.0)).toArray();

  private static final class Slice {
    final long minute;
    // By edge, and at last those that took longer.
    final int[] took = new int[EDGES_MS.length + 1];
    long done;
    long failed;
    double longestMs;

    Slice(long minute) {
      this.minute = minute;
    }
  }

  private final Deque<Slice> slices = new ArrayDeque<>();
  private long begin;

  /**
   * Adds an attempt that ended.
   *
   * @param now monotonic ns
   * @param tookNs from when it was sent
   */
  void add(long now, boolean done, long tookNs) {
    forget(now);
    if (slices.isEmpty()) {
      begin = now;
    }
    long minute = Math.floorDiv(now, MINUTE_NS);
    Slice last = slices.peekLast();
    if (last == null || last.minute != minute) {
      last = new Slice(minute);
      slices.addLast(last);
    }
    if (done) {
      last.done++;
    } else {
      last.failed++;
    }
    double ms = tookNs / 1e6;
    int edge = 0;
    while (edge < EDGES_MS.length && ms > EDGES_MS[edge]) {
      edge++;
    }
    last.took[edge]++;
    last.longestMs = Math.max(last.longestMs, ms);
  }

  private void forget(long now) {
    long first = Math.floorDiv(now, MINUTE_NS) - MINUTES;
    while (!slices.isEmpty() && slices.getFirst().minute <= first) {
      slices.removeFirst();
    }
  }

  /** Returns what is known of the last 15 minutes. */
  InstanceAttempts figures(long now) {
    forget(now);
    if (slices.isEmpty()) {
      return InstanceAttempts.NONE;
    }
    long done = slices.stream().mapToLong(slice -> slice.done).sum();
    long failed = slices.stream().mapToLong(slice -> slice.failed).sum();
    double minutes = Math.clamp((double) (now - begin) / MINUTE_NS, 1.0, MINUTES);
    return new InstanceAttempts(
        done, failed, Math.round(done * 10 / minutes) / 10.0, p99(done + failed));
  }

  private long p99(long ended) {
    double longest = slices.stream().mapToDouble(slice -> slice.longestMs).max().orElse(0);
    long shorter = 0;
    for (int i = 0; i < EDGES_MS.length; i++) {
      int edge = i;
      shorter += slices.stream().mapToLong(slice -> slice.took[edge]).sum();
      if (shorter * 100 >= ended * 99) {
        return Math.round(Math.min(longest, EDGES_MS[i]));
      }
    }
    return Math.round(longest);
  }
}
