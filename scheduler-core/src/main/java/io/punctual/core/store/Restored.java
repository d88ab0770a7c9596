package io.punctual.core.store;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Answers to a restoration, in the order asked for.
 *
 * @param newHead the earliest due time of the bucket when one of these jobs became the earliest,
 *     else null
 */
public record Restored(List<Kind> kinds, @Nullable Long newHead) {

  /** The cases. */
  public enum Kind {
    /** Nothing was forgotten, or what is there is newer. */
    KEPT,
    /** It waits again. */
    STORED,
    /** It has its later content or due time again. */
    CHANGED,
    /** It was there again; it is gone, and its id is remembered. */
    ENDED,
    /** It was gone again: since that end it was handed out and done once more. */
    REPEATED,
    /** It was gone, and its id is remembered again. */
    REMEMBERED
  }
}
