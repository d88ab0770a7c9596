package io.punctual.core.wake;

import io.punctual.core.store.ClockJump;

/**
 * Translates the store's time to this process's monotonic clock. The wall clock here plays no part.
 *
 * <p>Each answer of the store carries its time, taken at some moment between sending and receiving.
 * So the distance between both clocks is at least {@code now - received}, and less than {@code now
 * + 1 - sent}. By the lower bound one is never too early, and late by no more than the way back.
 * The largest of the recent lower bounds is the best, and the smallest of the upper ones. An answer
 * that contradicts them means that the store's clock was set, or that another clock took its place;
 * then that answer counts.
 */
final class StoreTime {

  /** Clocks drift apart by less than this between two answers. */
  static final long DRIFT_MS = 100;

  private static final long NANOS_PER_MS = 1_000_000;
  private static final long FORGET = 30_000_000_000L;
  private static final long HORIZON_MS = 24 * 3_600_000L;

  private boolean known;
  private long distance;
  private long taken;
  private long atMost;
  private long atMostTaken;
  private long lastNow;
  private long lastReceived;
  private ClockJump jump = ClockJump.NONE;

  /**
   * The store said its time.
   *
   * @param sent monotonic ns before the call
   * @param received monotonic ns after it
   * @param now epoch ms by the store
   * @return by how many ms the store's clock was set since its last answer, as far as that is
   *     certain: forward if positive, back if negative, 0 if less than clocks drift
   */
  long sample(long sent, long received, long now) {
    long atLeast = now * NANOS_PER_MS - received;
    long below = (now + 1) * NANOS_PER_MS - sent;
    long set = 0;
    if (known && atLeast - atMost >= DRIFT_MS * NANOS_PER_MS) {
      set = (atLeast - atMost) / NANOS_PER_MS;
      jump = new ClockJump(now - set + 1, (below - distance) / NANOS_PER_MS + 1);
    } else if (known && distance - below >= DRIFT_MS * NANOS_PER_MS) {
      set = (below - distance) / NANOS_PER_MS;
    }
    boolean other = !known || atLeast >= atMost || below < distance;
    if (other || atLeast >= distance || received - taken > FORGET) {
      distance = atLeast;
      taken = received;
    }
    if (other || below <= atMost || received - atMostTaken > FORGET) {
      atMost = below;
      atMostTaken = received;
    }
    known = true;
    lastNow = now;
    lastReceived = received;
    return set;
  }

  /**
   * The monotonic ns at which the store's clock surely shows {@code millis}; what is more than a
   * day ahead is a day ahead.
   */
  long at(long millis) {
    if (!known) {
      return Long.MIN_VALUE;
    }
    if (millis > lastNow + HORIZON_MS) {
      return lastReceived + HORIZON_MS * NANOS_PER_MS;
    }
    if (millis <= lastNow) {
      return lastReceived;
    }
    return millis * NANOS_PER_MS - distance;
  }

  /** The store's time when it last answered, epoch ms; 0 if it never did. */
  long lastNow() {
    return lastNow;
  }

  /** The last time that the store's clock was set forward. */
  ClockJump jump() {
    return jump;
  }
}
