package io.punctual.core;

/**
 * How late a job was when it was first with somebody who runs it, and what it waited for, in ns. It
 * is late from its due time on, or from when it was accepted or the hours of its queue began, where
 * that was later. Measured by the store's clock up to the claim, by the monotonic one behind it.
 *
 * @param retry it was sent before, and nobody was there
 * @param room there was nobody to take it: no worker had room, the queue was paused or at its
 *     limits, or no engine ran
 * @param scan its scanner had not come to it
 * @param dispatch from the claim until it was on its way
 */
public record Lateness(long retry, long room, long scan, long dispatch) {

  /** All of it. */
  public long nanos() {
    return retry + room + scan + dispatch;
  }
}
