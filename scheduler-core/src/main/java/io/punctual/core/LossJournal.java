package io.punctual.core;

import io.punctual.core.store.durability.LossEntry;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The losses of the store that are possible, as this engine read them last.
 *
 * @param store names the store; another name is another store, or an emptied one. Null if the
 *     journal could not be read for 15 seconds
 * @param now the store's time; the epoch if the store is null
 * @param begun the store's time when the first engine came to it; the epoch if the store is null
 * @param entries the newest ones, oldest first
 */
public record LossJournal(
    @Nullable String store, Instant now, Instant begun, List<LossEntry> entries) {

  /** Nothing was read, or too long ago to count. */
  public static final LossJournal UNKNOWN =
      new LossJournal(null, Instant.EPOCH, Instant.EPOCH, List.of());

  /** The sequence of the newest entry; 0 if there is none. */
  public long newest() {
    return entries.isEmpty() ? 0 : entries.get(entries.size() - 1).sequence();
  }
}
