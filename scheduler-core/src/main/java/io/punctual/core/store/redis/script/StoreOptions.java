package io.punctual.core.store.redis.script;

import io.punctual.core.store.durability.Durability;
import java.time.Duration;

/**
 * The options of the store.
 *
 * @param prefix first part of every key and of the wake-up channel: 1 to 32 characters of
 *     [A-Za-z0-9._-], and for a store that a check throws away, {@code :check-} and 8 characters of
 *     [0-9a-f]
 * @param tombstones how long a finished or cancelled id is remembered: 1 s to 7 days. Must be
 *     longer than any submitter keeps repeating a submit; costs some 300 bytes a job for that long
 * @param durability what must have happened before a change is answered
 * @param confirmEnds whether the ends of attempts, too, wait for one replica where replicas confirm
 */
public record StoreOptions(
    String prefix, Duration tombstones, Durability durability, boolean confirmEnds) {

  /** Prefix {@code punctual}, tombstones for 10 minutes, as durable as Redis is configured. */
  public static final StoreOptions DEFAULTS =
      new StoreOptions("punctual", Duration.ofMinutes(10), Durability.DEFAULT, false);

  /** As durable as Redis is configured. */
  public StoreOptions(String prefix, Duration tombstones) {
    this(prefix, tombstones, Durability.DEFAULT);
  }

  /** Ends of attempts wait for nothing. */
  public StoreOptions(String prefix, Duration tombstones, Durability durability) {
    this(prefix, tombstones, durability, false);
  }

  /** Checks the ranges. */
  public StoreOptions {
    if (!prefix.matches("[A-Za-z0-9._-]{1,32}(:check-[0-9a-f]{8})?")) {
      throw new IllegalArgumentException(
          "the key prefix must be 1 to 32 characters of [A-Za-z0-9._-], not '" + prefix + "'");
    }
    if (tombstones.compareTo(Duration.ofSeconds(1)) < 0
        || tombstones.compareTo(Duration.ofDays(7)) > 0) {
      throw new IllegalArgumentException(
          "tombstones must live between 1 s and 7 days, not " + tombstones);
    }
  }
}
