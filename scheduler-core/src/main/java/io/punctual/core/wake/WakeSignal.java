package io.punctual.core.wake;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

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
   * @param offered whether the owner of the bucket has no capacity for a due job
   */
  public record Raised(
      long head, long deadline, boolean asked, boolean capacity, boolean offered) {}

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition raised = lock.newCondition();
  private long head = WakePlan.NEVER;
  private long deadline = WakePlan.NEVER;
  private boolean asked;
  private boolean capacity;
  private boolean offered;
  private boolean pull;
  private long aim = Long.MIN_VALUE;
  private long deadlineAim = Long.MIN_VALUE;
  private boolean pullsMatter;
  private @Nullable Runnable waker;

  /** A job with that due time is there; wakes the scanner only if it aims at a later one. */
  public void head(long due) {
    raise(() -> head = Math.min(head, due));
  }

  /** A lease with that deadline was made; wakes the scanner only if it knows of no earlier one. */
  public void deadline(long millis) {
    raise(() -> deadline = Math.min(deadline, millis));
  }

  /** The scanner was refused by {@link Capacity}, and is to ask again. */
  public void capacity() {
    raise(() -> capacity = true);
  }

  /** A job with that due time is due, and the bucket's owner has no capacity for it. */
  public void offered(long due) {
    raise(
        () -> {
          head = Math.min(head, due);
          offered = true;
        });
  }

  /** A pull waits; wakes the scanner only if it does not look when jobs are due. */
  public void pull() {
    raise(() -> pull = true);
  }

  /** Wakes the scanner in any case. */
  public void ask() {
    raise(() -> asked = true);
  }

  private void raise(Runnable change) {
    Runnable woken = null;
    lock.lock();
    try {
      change.run();
      if (matters()) {
        raised.signal();
        woken = waker;
        waker = null;
      }
    } finally {
      lock.unlock();
    }
    if (woken != null) {
      woken.run();
    }
  }

  private boolean matters() {
    return asked
        || capacity
        || offered
        || (pull && pullsMatter)
        || head < aim
        || deadline < deadlineAim;
  }

  /** Takes what was raised so far. Until {@link #aim}, no due time and no deadline matters. */
  public Raised take() {
    lock.lock();
    try {
      Raised all = new Raised(head, deadline, asked, capacity, offered);
      head = WakePlan.NEVER;
      deadline = WakePlan.NEVER;
      asked = false;
      capacity = false;
      offered = false;
      pull = false;
      pullsMatter = false;
      aim = Long.MIN_VALUE;
      deadlineAim = Long.MIN_VALUE;
      waker = null;
      return all;
    } finally {
      lock.unlock();
    }
  }

  /**
   * From now on due times earlier than the one matter, and lease deadlines than the other.
   *
   * @param pulls whether pulls that wait matter
   */
  public void aim(long due, long leaseDeadline, boolean pulls) {
    lock.lock();
    try {
      aim = due;
      deadlineAim = leaseDeadline;
      pullsMatter = pulls;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Sleeps until something is raised that matters, or the time is over. An interrupt ends the sleep
   * and nothing else: it is not for the duties of an engine.
   *
   * @param nanos how long; not at all if 0 or less
   */
  public void sleep(long nanos) {
    lock.lock();
    try {
      long left = nanos;
      while (left > 0 && !matters()) {
        left = raised.awaitNanos(Math.min(left, TimeUnit.DAYS.toNanos(1)));
      }
    } catch (InterruptedException e) {
      // The scanner looks whether there is something to do.
      return;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Has somebody called when something is raised that matters: once, and not after the next {@link
   * #take}.
   *
   * @return false if such a thing was raised already; then nobody is called
   */
  public boolean call(Runnable whenRaised) {
    lock.lock();
    try {
      boolean waits = !matters();
      if (waits) {
        waker = whenRaised;
      }
      return waits;
    } finally {
      lock.unlock();
    }
  }
}
