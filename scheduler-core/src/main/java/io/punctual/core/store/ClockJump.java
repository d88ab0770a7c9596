package io.punctual.core.store;

/**
 * The store's clock was set forward, so that leases seem to end before their time.
 *
 * @param before leases that were claimed before this time were claimed by the clock as it was;
 *     epoch ms by the clock as it is now
 * @param millis by how much the clock was set forward, at least 0
 */
public record ClockJump(long before, long millis) {

  /** The clock was not set forward. */
  public static final ClockJump NONE = new ClockJump(0, 0);
}
