package io.punctual.spring.outbox;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The options of the outbox's relay.
 *
 * @param pollInterval how often this instance looks even if nothing wakes it
 * @param lease how long what an instance has taken is left to it unless it extends that
 * @param keepRefused how long calls are kept that can never be made
 * @param keepSent how long calls are kept that were made; null if they are not
 */
public record OutboxOptions(
    Duration pollInterval, Duration lease, Duration keepRefused, @Nullable Duration keepSent) {

  /**
   * Returns the options of an application. The lease is well within what schedulers remember of a
   * job that is done: else a repeated send would run again.
   *
   * @param keepSent how long calls are kept that were made; null if they are not
   */
  public static OutboxOptions keeping(@Nullable Duration keepSent) {
    return new OutboxOptions(
        Duration.ofSeconds(1), Duration.ofMinutes(1), Duration.ofDays(30), keepSent);
  }
}
