package io.punctual.core.recovery;

import java.time.Duration;

/**
 * The time of the store's last answer, over all buckets.
 *
 * <p>When nobody heard of the store for a while (it was paused, restarted, cut off), every lease in
 * it ran out through no fault of its holder. Whoever expired leases in that very moment would take
 * the jobs of all healthy schedulers away. So after a silence of half a lease the holders get one
 * heartbeat's time to say that they are still there: extend wins over expire.
 */
public final class Contact {

  private static final long CLOCK_AGAIN = Duration.ofSeconds(10).toNanos();

  private final long silence;
  private final long heartbeat;
  private boolean heard;
  private long last;
  private long expireFrom = Long.MAX_VALUE;
  private long clockTold = Long.MIN_VALUE / 2;

  public Contact(Duration lease) {
    this.silence = lease.toNanos() / 2;
    this.heartbeat = lease.toNanos() / 3;
  }

  /** With a store that always answers: leases may be expired at any time. */
  public static Contact unbroken() {
    Contact contact = new Contact(Duration.ZERO);
    contact.expireFrom = Long.MIN_VALUE;
    return contact;
  }

  /** The store answered. */
  public synchronized void answered(long nanos) {
    if (!heard || nanos - last > silence) {
      expireFrom = nanos + heartbeat;
    }
    heard = true;
    last = Math.max(last, nanos);
  }

  /** Whether to report a clock of the store that was set: one report in ten seconds will do. */
  public synchronized boolean reportsClock(long nanos) {
    if (nanos - clockTold < CLOCK_AGAIN) {
      return false;
    }
    clockTold = nanos;
    return true;
  }

  /** The earliest moment at which leases may be expired. */
  public synchronized long expireFrom() {
    return expireFrom;
  }
}
