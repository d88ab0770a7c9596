package io.punctual.worker;

import java.util.ArrayList;
import java.util.List;

/** Interrupts the thread of an attempt when its time is over, and never after it has ended. */
public final class TimeLimit {

  private static final System.Logger log = System.getLogger(TimeLimit.class.getName());

  private final Thread thread;
  private final Runnable onTimeOver;
  private final List<Runnable> actions = new ArrayList<>(1);
  // Written under the lock; read without, so that a loop may ask often.
  private volatile boolean struck;
  private boolean over;

  /**
   * @param onTimeOver runs once when the time is over, before the interrupt
   */
  public TimeLimit(Thread thread, Runnable onTimeOver) {
    this.thread = thread;
    this.onTimeOver = onTimeOver;
  }

  /** The time is over. */
  public synchronized void strike() {
    if (!over && !struck) {
      onTimeOver.run();
      end();
    }
  }

  /** The process stops. */
  public synchronized void interrupt() {
    if (over) {
      return;
    } else if (struck) {
      // Perhaps it went on in spite of the first.
      thread.interrupt();
    } else {
      end();
    }
  }

  private void end() {
    struck = true;
    actions.forEach(TimeLimit::run);
    actions.clear();
    thread.interrupt();
  }

  /** Runs the action when this strikes, before the interrupt; at once if it did already. */
  public synchronized void onStrike(Runnable action) {
    if (struck) {
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

  /** The attempt has ended. To be called on its thread. */
  public synchronized void over() {
    over = true;
    if (struck) {
      // The interrupt was meant for this attempt, not for what runs next on the thread.
      var unused = Thread.interrupted();
    }
  }

  /** Whether the thread was interrupted by this. */
  public boolean struck() {
    return struck;
  }
}
