package io.punctual.core.engine;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Wakes one sleeping scanner. What is rung while the scanner is awake is kept until it listens
 * next, so that nothing falls between looking and sleeping.
 */
final class Doorbell {

  /**
   * What was rung.
   *
   * @param head the earliest due time that was announced, {@link WakePlan#NEVER} if none was
   * @param deadline the earliest lease deadline that was announced, {@link WakePlan#NEVER} if none
   *     was
   * @param asked whether somebody wants it to look in any case
   */
  record Rings(long head, long deadline, boolean asked) {}

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition rung = lock.newCondition();
  private long head = WakePlan.NEVER;
  private long deadline = WakePlan.NEVER;
  private boolean asked;
  private boolean room;
  private long aim = Long.MIN_VALUE;
  private long deadlineAim = Long.MIN_VALUE;
  private volatile boolean full;

  /** Says whether as many jobs of the bucket are out as may be at once. */
  void full(boolean isFull) {
    full = isFull;
  }

  /** A job of the bucket has ended: where that was waited for, there may be room for another. */
  void ended() {
    if (full) {
      head(Long.MIN_VALUE);
    }
  }

  /** A job with that due time is there; wakes the scanner only if it aims at a later one. */
  void head(long due) {
    lock.lock();
    try {
      if (due < head) {
        head = due;
        if (due < aim) {
          rung.signal();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** A lease with that deadline was made; wakes the scanner only if it knows of no earlier one. */
  void deadline(long millis) {
    lock.lock();
    try {
      if (millis < deadline) {
        deadline = millis;
        if (millis < deadlineAim) {
          rung.signal();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** There may be room for more jobs; wakes the scanner only if it waits for that. */
  void room() {
    lock.lock();
    try {
      room = true;
      rung.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Wakes the scanner in any case. */
  void ask() {
    lock.lock();
    try {
      asked = true;
      rung.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Takes what was rung so far. */
  Rings take() {
    lock.lock();
    try {
      Rings rings = new Rings(head, deadline, asked);
      head = WakePlan.NEVER;
      deadline = WakePlan.NEVER;
      asked = false;
      room = false;
      return rings;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Sleeps until something is rung that matters, or the time is over.
   *
   * @param nanos how long
   * @param aim earlier due times than this matter
   * @param deadlineAim earlier lease deadlines than this matter
   * @param wantsRoom whether room matters
   */
  void sleep(long nanos, long aim, long deadlineAim, boolean wantsRoom)
      throws InterruptedException {
    lock.lockInterruptibly();
    try {
      this.aim = aim;
      this.deadlineAim = deadlineAim;
      long left = nanos;
      while (left > 0 && !asked && head >= aim && deadline >= deadlineAim && !(wantsRoom && room)) {
        left = rung.awaitNanos(Math.min(left, TimeUnit.DAYS.toNanos(1)));
      }
    } finally {
      this.aim = Long.MIN_VALUE;
      this.deadlineAim = Long.MIN_VALUE;
      lock.unlock();
    }
  }
}
