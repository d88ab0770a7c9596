package io.punctual.core.engine;

import java.time.Duration;

/**
 * How much an engine remembers of what it answered, to put it back after a fail-over.
 *
 * @param keep for how long at least, while the store is seen to be the same: 0 to 5 min, 0 for no
 *     receipts; at most half as long as tombstones live, or what has run might be put back
 * @param maxBytes most memory for them, from 1 MB; the oldest go first
 */
public record ReceiptOptions(Duration keep, long maxBytes) {

  /** Half a minute, at most 32 MB. */
  public static final ReceiptOptions DEFAULT = new ReceiptOptions(Duration.ofSeconds(30), 32 << 20);

  /** Checks the ranges. */
  public ReceiptOptions {
    if (keep.isNegative() || keep.compareTo(Duration.ofMinutes(5)) > 0) {
      throw new IllegalArgumentException("receipts must be kept between 0 and 5 min, not " + keep);
    }
    if (maxBytes < 1 << 20) {
      throw new IllegalArgumentException(
          "receipts must be given at least 1 MB, not " + maxBytes + " bytes");
    }
  }
}
