package io.punctual.core.engine;

/**
 * Translates the store's time to this process's monotonic clock. The wall clock here plays no part.
 *
 * <p>Each answer of the store carries its time, taken at some moment between sending and receiving.
 * So the distance between both clocks is at least {@code now - received}: by that bound one is
 * never too early, and late by no more than the way back. The largest of the recent bounds is the
 * best. An answer that contradicts it means that a clock was set; then that answer counts.
 */
final class StoreTime {

  private static final long NANOS_PER_MS = 1_000_000;
  private static final long FORGET = 30_000_000_000L;
  private static final long HORIZON_MS = 24 * 3_600_000L;

  private boolean known;
  private long distance;
  private long taken;
  private long lastNow;
  private long lastReceived;

  /**
   * The store said its time.
   *
   * @param sent monotonic ns before the call
   * @param received monotonic ns after it
   * @param now epoch ms by the store
   */
  void sample(long sent, long received, long now) {
    long atLeast = now * NANOS_PER_MS - received;
    long below = (now + 1) * NANOS_PER_MS - sent;
    if (!known || atLeast >= distance || below < distance || received - taken > FORGET) {
      known = true;
      distance = atLeast;
      taken = received;
    }
    lastNow = now;
    lastReceived = received;
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
}
