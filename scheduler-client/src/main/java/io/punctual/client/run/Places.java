package io.punctual.client.run;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The places of an instance, or those of one task type. A job that finds none waits for a while,
 * without a thread: where threads are counted, jobs that wait would hold up jobs of other types.
 */
final class Places {

  private static final class Waiting {

    private final Runnable start;
    private final Runnable giveUp;
    private @Nullable Future<?> watch;

    Waiting(Runnable start, Runnable giveUp) {
      this.start = start;
      this.giveUp = giveUp;
    }

    private void unwatch() {
      if (watch != null) {
        watch.cancel(false);
      }
    }
  }

  private static final Logger log = LoggerFactory.getLogger(Places.class);

  private final ScheduledExecutorService timer;
  // Guards all that follows.
  private final Deque<Waiting> waiting = new ArrayDeque<>();
  private final int places;
  private int free;

  Places(int places, ScheduledExecutorService timer) {
    this.places = places;
    this.free = places;
    this.timer = timer;
  }

  /**
   * Takes a place now or a little later.
   *
   * @param start called once there is a place, to be given back by {@link #leave}
   * @param millis how long to wait for one
   * @param giveUp called instead if none is free in that time, or if the wait cannot start
   */
  void take(Runnable start, long millis, Runnable giveUp) {
    Runnable now = start;
    synchronized (waiting) {
      if (free > 0) {
        free--;
      } else if (await(new Waiting(start, giveUp), millis)) {
        return;
      } else {
        now = giveUp;
      }
    }
    now.run();
  }

  private boolean await(Waiting one, long millis) {
    try {
      one.watch = timer.schedule(() -> giveUp(one), millis, TimeUnit.MILLISECONDS);
      waiting.add(one);
      return true;
    } catch (RuntimeException | Error e) {
      // The timer was stopped, or there is no memory.
      log.warn("A job cannot wait for a place here and goes to another instance", e);
      return false;
    }
  }

  private void giveUp(Waiting one) {
    boolean left;
    synchronized (waiting) {
      left = waiting.remove(one);
    }
    if (left) {
      one.giveUp.run();
    }
  }

  /** Gives up all that wait now. */
  void giveUp() {
    List<Waiting> all;
    synchronized (waiting) {
      all = List.copyOf(waiting);
      waiting.clear();
    }
    for (Waiting one : all) {
      one.unwatch();
      one.giveUp.run();
    }
  }

  /** Gives a place back, to the one that has waited longest. */
  void leave() {
    Waiting next;
    synchronized (waiting) {
      next = waiting.poll();
      if (next == null) {
        free++;
        waiting.notifyAll();
        return;
      }
      next.unwatch();
    }
    next.start.run();
  }

  /** Returns how many places are free. */
  int free() {
    synchronized (waiting) {
      return free;
    }
  }

  /**
   * Waits until no place is taken.
   *
   * @return whether that was so in time
   */
  boolean awaitEmpty(long millis) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    synchronized (waiting) {
      while (free < places) {
        long left = end - System.nanoTime();
        if (left <= 0) {
          return false;
        }
        TimeUnit.NANOSECONDS.timedWait(waiting, left);
      }
      return true;
    }
  }
}
