package io.punctual.core.wake;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Wakes one sleeping scanner. What is raised while the scanner is awake is kept until it takes it,
 * so that nothing falls between looking and sleeping.
 */
public final class WakeSignal {

  /**
   * What was raised.
   *
   * @param head the earliest due time that was announced, {@link WakePlan#NEVER} if none was
   * @param deadline the earliest lease deadline that was announced, {@link WakePlan#NEVER} if none
   *     was
   * @param asked whether it is to look in any case
   * @param capacity whether it may claim again after it was refused
   */
  public record Raised(long head, long deadline, boolean asked, boolean capacity) {}

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition raised = lock.newCondition();
  private long head = WakePlan.NEVER;
  private long deadline = WakePlan.NEVER;
  private boolean asked;
  private boolean capacity;
  private long aim = Long.MIN_VALUE;
  private long deadlineAim = Long.MIN_VALUE;

  /** A job with that due time is there; wakes the scanner only if it aims at a later one. */
  public void head(long due) {
    lock.lock();
    try {
      if (due < head) {
        head = due;
        if (due < aim) {
          raised.signal();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** A lease with that deadline was made; wakes the scanner only if it knows of no earlier one. */
  public void deadline(long millis) {
    lock.lock();
    try {
      if (millis < deadline) {
        deadline = millis;
        if (millis < deadlineAim) {
          raised.signal();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** The scanner was refused by {@link Capacity}, and is to ask again. */
  public void capacity() {
    lock.lock();
    try {
      capacity = true;
      raised.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Wakes the scanner in any case. */
  public void ask() {
    lock.lock();
    try {
      asked = true;
      raised.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Takes what was raised so far. */
  public Raised take() {
    lock.lock();
    try {
      Raised all = new Raised(head, deadline, asked, capacity);
      head = WakePlan.NEVER;
      deadline = WakePlan.NEVER;
      asked = false;
      capacity = false;
      return all;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Sleeps until something is raised that matters, or the time is over. An interrupt ends the sleep
   * and nothing else: it is not for the duties of an engine.
   *
   * @param nanos how long
   * @param aim earlier due times than this matter
   * @param deadlineAim earlier lease deadlines than this matter
   */
  public void sleep(long nanos, long aim, long deadlineAim) {
    lock.lock();
    try {
      this.aim = aim;
      this.deadlineAim = deadlineAim;
      long left = nanos;
      while (left > 0 && !asked && !capacity && head >= aim && deadline >= deadlineAim) {
        left = raised.awaitNanos(Math.min(left, TimeUnit.DAYS.toNanos(1)));
      }
    } catch (InterruptedException e) {
      // The scanner looks whether there is something to do.
      return;
    } finally {
      this.aim = Long.MIN_VALUE;
      this.deadlineAim = Long.MIN_VALUE;
      lock.unlock();
    }
  }
}
