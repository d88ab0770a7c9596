package io.punctual.core.wake;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The store's time at a bucket, from its latest answer. Never ahead of the store's clock, unless
 * that was set back since; behind it by the way of the answer.
 */
public final class StoreClock {

  private static final long UNKNOWN = Long.MIN_VALUE;

  private final LongSupplier ticks;
  private final LongSupplier ask;
  private volatile long distance = UNKNOWN;

  /**
   * @param ticks monotonic ns
   * @param ask asks the store, for the first time; epoch ms
   */
  public StoreClock(LongSupplier ticks, LongSupplier ask) {
    this.ticks = ticks;
    this.ask = ask;
  }

  /** The store has just said its time. */
  public void answered(long now) {
    distance = TimeUnit.MILLISECONDS.toNanos(now) - ticks.getAsLong();
  }

  /**
   * Returns the store's time, epoch ms. Asks the store if it never answered.
   *
   * @throws io.punctual.core.store.StoreException if it had to be asked, and did not answer
   */
  public long now() {
    if (distance == UNKNOWN) {
      answered(ask.getAsLong());
    }
    return TimeUnit.NANOSECONDS.toMillis(distance + ticks.getAsLong());
  }
}
