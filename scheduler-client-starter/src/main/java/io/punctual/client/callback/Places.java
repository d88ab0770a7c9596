package io.punctual.client.callback;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The places of one task type. Who finds none waits for a while, without a thread: where threads
 * are counted, those who wait would hold up jobs of other types.
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

  private final ScheduledExecutorService timer;
  private final Deque<Waiting> waiting = new ArrayDeque<>();
  private int free;

  Places(int places, ScheduledExecutorService timer) {
    this.free = places;
    this.timer = timer;
  }

  /**
   * Takes a place now or a little later.
   *
   * @param start called once there is a place, to be given back by {@link #leave}
   * @param millis how long to wait for one
   * @param giveUp called instead when there was none in that time, or nobody shall wait any more
   */
  void take(Runnable start, long millis, Runnable giveUp) {
    synchronized (waiting) {
      if (free == 0) {
        Waiting one = new Waiting(start, giveUp);
        waiting.add(one);
        one.watch = timer.schedule(() -> giveUp(one), millis, TimeUnit.MILLISECONDS);
        return;
      }
      free--;
    }
    start.run();
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

  /** Lets nobody wait any longer who waits now. */
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
        return;
      }
      next.unwatch();
    }
    next.start.run();
  }
}
