package io.punctual.worker;

/** Interrupts the thread of an attempt when its time is over, and never after it has ended. */
public final class TimeLimit {

  private final Thread thread;
  private final Runnable onStrike;
  private boolean struck;
  private boolean over;

  /**
   * @param onStrike runs once, before the interrupt
   */
  public TimeLimit(Thread thread, Runnable onStrike) {
    this.thread = thread;
    this.onStrike = onStrike;
  }

  /** The time is over. */
  public synchronized void strike() {
    if (!over && !struck) {
      struck = true;
      onStrike.run();
      thread.interrupt();
    }
  }

  /** The process stops. */
  public synchronized void interrupt() {
    if (!over) {
      struck = true;
      thread.interrupt();
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
  public synchronized boolean struck() {
    return struck;
  }
}
