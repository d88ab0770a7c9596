package io.punctual.internal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Stops an attempt when its time is over or its lease is lost, and never after it has ended:
 * interrupts its thread or, once that has returned and left a future behind, cancels the future.
 */
public final class TimeLimit {

  private static final System.Logger log = System.getLogger(TimeLimit.class.getName());

  private final Duration timeToRun;
  private final Runnable onTimeOver;
  private final List<Runnable> actions = new ArrayList<>(1);
  // Null once it has returned.
  private @Nullable Thread thread = Thread.currentThread();
  private @Nullable Runnable cancel;
  private @Nullable ScheduledExecutorService timer;
  private @Nullable Future<?> watch;
  // By System.nanoTime().
  private long endsAt;
  private boolean extended;
  private boolean kept;
  private boolean timeOver;
  private volatile boolean cancelled;
  // Written under the lock; read without, so that a loop may ask often.
  private volatile @Nullable String why;
  private boolean over;

  /**
   * An attempt that begins on this thread.
   *
   * @param timeToRun how long it may take
   * @param onTimeOver runs once when the time is over, before the interrupt
   */
  public TimeLimit(Duration timeToRun, Runnable onTimeOver) {
    this(timeToRun, System.nanoTime(), onTimeOver);
  }

  /**
   * An attempt that begins on this thread, and that waited for it.
   *
   * @param timeToRun how long it may take, with what it waited
   * @param since when it began to wait, by {@link System#nanoTime}
   * @param onTimeOver runs once when the time is over, before the interrupt
   */
  public TimeLimit(Duration timeToRun, long since, Runnable onTimeOver) {
    this.timeToRun = timeToRun;
    this.onTimeOver = onTimeOver;
    this.endsAt = since + timeToRun.toNanos();
  }

  /** How long it was to take at first. */
  public Duration timeToRun() {
    return timeToRun;
  }

  /** Has a timer strike when the time is over; without this somebody else must see to it. */
  public synchronized void watch(ScheduledExecutorService timer) {
    this.timer = timer;
    watch = timer.schedule(this::look, left().toNanos(), TimeUnit.NANOSECONDS);
  }

  // It may have been given more time in the very moment.
  private synchronized void look() {
    if (left().isZero()) {
      strike();
    }
  }

  /** How long it may take from now on; zero when its time is over. */
  public synchronized Duration left() {
    return Duration.ofNanos(Math.max(0, endsAt - System.nanoTime()));
  }

  /**
   * Lets it take at least that much longer than now, as it asked for.
   *
   * @return false, and nothing done, if it was stopped or has ended
   */
  public synchronized boolean extend(Duration more) {
    long before = endsAt;
    boolean goesOn = prolong(more);
    extended |= endsAt != before;
    return goesOn;
  }

  /** As {@link #extend}, unasked: the job was delivered again, and has the time of that. */
  public synchronized boolean prolong(Duration more) {
    if (over || why != null) {
      return false;
    }
    long later = System.nanoTime() + more.toNanos();
    if (later - endsAt > 0) {
      endsAt = later;
      if (watch != null && timer != null) {
        watch.cancel(false);
        watch(timer);
      }
    }
    return true;
  }

  /** The time is over. */
  public synchronized void strike() {
    if (over || timeOver || (why != null && !cancelled)) {
      return;
    }
    timeOver = true;
    onTimeOver.run();
    if (why == null) {
      end(
          "its time-to-run of %d ms%s was over"
              .formatted(timeToRun.toMillis(), extended ? ", with what it asked for," : ""));
    }
  }

  /**
   * That the lease is lost is no reason to stop from now on: the job goes on without the attempt,
   * and whoever ends it takes the lease.
   */
  public synchronized void keepWhenLost() {
    kept = true;
  }

  /** The job was cancelled, and the attempt is to stop. Its time runs on, in case it does not. */
  public synchronized void cancel() {
    if (!over && why == null) {
      cancelled = true;
      end("the job was cancelled");
    }
  }

  /** Whether the attempt was stopped since its job was cancelled. */
  public boolean cancelled() {
    return cancelled;
  }

  /** The job is not this attempt's any more. */
  public synchronized void lose() {
    if (!over && !kept && why == null) {
      end("the job is not this attempt's any more");
    }
  }

  /** The process stops. */
  public synchronized void interrupt() {
    if (over) {
      return;
    } else if (why != null) {
      // Perhaps it went on in spite of the first.
      stop();
    } else {
      end("the application stops");
    }
  }

  private void end(String reason) {
    why = reason;
    actions.forEach(TimeLimit::run);
    actions.clear();
    stop();
  }

  private void stop() {
    if (thread != null) {
      thread.interrupt();
    } else if (cancel != null) {
      cancel.run();
    }
  }

  /**
   * The thread is done with, and the work goes on without it. To be called on that thread.
   *
   * @param cancel stops the work; must be quick, and bear being called more than once
   */
  public synchronized void handOver(Runnable cancel) {
    this.thread = null;
    this.cancel = cancel;
    if (why != null) {
      clearInterrupt();
      cancel.run();
    }
  }

  /** Runs the action when this strikes, before the interrupt; at once if it did already. */
  public synchronized void onStrike(Runnable action) {
    if (why != null) {
      run(action);
    } else if (!over) {
      actions.add(action);
    }
  }

  // Under the lock, so that none runs after the attempt: what it would cancel may by then be in
  // the hands of another one.
  private static void run(Runnable action) {
    try {
      action.run();
    } catch (Throwable e) {
      // Errors too: behind this the thread is interrupted, and the timer serves others.
      log.log(
          System.Logger.Level.WARNING, "What a worker wants done when it is cancelled failed", e);
    }
  }

  /** The attempt has ended. To be called on its thread, unless that was done with before. */
  public synchronized void over() {
    over = true;
    if (watch != null) {
      watch.cancel(false);
    }
    if (why != null && thread != null) {
      clearInterrupt();
    }
  }

  // The interrupt was meant for this attempt, not for what runs next on the thread.
  private static void clearInterrupt() {
    var unused = Thread.interrupted();
  }

  /** Whether the attempt was stopped by this. */
  public boolean struck() {
    return why != null;
  }

  /** Why it was stopped, in words; null if it was not. */
  public @Nullable String why() {
    return why;
  }
}
