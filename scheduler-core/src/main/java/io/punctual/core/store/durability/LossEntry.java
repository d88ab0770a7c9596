package io.punctual.core.store.durability;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An entry of the journal of losses: applications that keep what they sent send it again.
 *
 * @param sequence larger than that of each entry before, also where the store forgot entries: the
 *     store's time in epoch ms when the entry was made, or one more than the last
 * @param noticedAt by the store's clock
 * @param asOf changes that were acknowledged before this time are there; later ones may be missing.
 *     Null if nothing is there
 */
public record LossEntry(long sequence, Kind kind, Instant noticedAt, @Nullable Instant asOf) {

  /** Why changes may be missing. */
  public enum Kind {
    /** The store was emptied, or another one took its place. */
    EMPTIED,
    /** The store came back as it was earlier. */
    OLDER,
    /**
     * Redis was started again and does not have each write on its disk before it answers, or a
     * replica took its place, or no engine was there for some seconds.
     */
    RESTARTED,
    /** An operator asked for it. */
    REQUESTED
  }
}
