package io.punctual.core.deliver;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Counts the deliveries whose end the store does not have yet. */
public final class InFlight {

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition none = lock.newCondition();
  private long count;
  private boolean closed;

  public void add(int deliveries) {
    lock.lock();
    try {
      count += deliveries;
      if (count == 0) {
        none.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /** How many there are now. */
  public long count() {
    lock.lock();
    try {
      return count;
    } finally {
      lock.unlock();
    }
  }

  /** Ends all waiting. */
  public void close() {
    lock.lock();
    try {
      closed = true;
      none.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Waits until there is none; false if that took too long, or was ended. */
  public boolean awaitNone(Duration patience) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long left = patience.toNanos();
      while (count > 0 && left > 0 && !closed) {
        left = none.awaitNanos(Math.min(left, TimeUnit.HOURS.toNanos(1)));
      }
      return count == 0;
    } finally {
      lock.unlock();
    }
  }
}
