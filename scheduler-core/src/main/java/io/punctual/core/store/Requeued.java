package io.punctual.core.store;

import io.punctual.core.job.JobVersion;
import io.punctual.core.store.durability.Reached;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of a requeue.
 *
 * @param newHead the due time when one of the jobs became the earliest of the bucket, else null
 */
public record Requeued(List<Item> items, @Nullable Long newHead) {

  /**
   * The answer for one job.
   *
   * @param version what it is now; null of REFUSED
   * @param reached where the change was when it was answered
   */
  public record Item(Kind kind, @Nullable JobVersion version, Reached reached) {

    /** Answered by Redis alone. */
    public Item(Kind kind, @Nullable JobVersion version) {
      this(kind, version, Reached.REDIS);
    }
  }

  /** The cases; all but REQUEUED changed nothing. */
  public enum Kind {
    /** It waits again. */
    REQUEUED,
    /** It is dead, and not the version any more that was seen. */
    CHANGED,
    /** It is no dead letter, or cannot be read. */
    REFUSED
  }
}
