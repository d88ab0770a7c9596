package io.punctual.spi;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Losses of the store behind the schedulers, for applications that keep what they sent.
 *
 * @param store names the store; another name is another store, or an emptied one. Begins with
 *     {@link #PLUGIN} in plugin mode. Null if the scheduler has not read the losses for 15 seconds
 * @param now the store's time
 * @param begun the store's time when a scheduler first used it
 * @param losses the newest ones, oldest first
 */
public record StoreLosses(@Nullable String store, Instant now, Instant begun, List<Loss> losses) {

  /** Prefix of the names of stores that applications use in plugin mode. */
  public static final String PLUGIN = "plugin/";

  /** Copies the losses. */
  public StoreLosses {
    losses = List.copyOf(losses);
  }

  /** Returns the sequence of the newest loss; 0 if there is none. */
  public long newest() {
    return losses.isEmpty() ? 0 : losses.get(losses.size() - 1).sequence();
  }

  /**
   * A loss, or the request of an operator to send again.
   *
   * @param sequence larger than that of each loss before: the store's time when it was noticed, in
   *     epoch ms, or one more than the last
   * @param asOf changes that were acknowledged before this time are there, by the store's clock;
   *     later ones may be missing. Null if nothing is there
   */
  public record Loss(long sequence, @Nullable Instant asOf) {}
}
