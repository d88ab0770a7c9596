package io.punctual.core.engine;

import java.util.List;

/**
 * The answer to a submit.
 *
 * @param dueAt epoch ms: due time, or when the job of that id finished
 * @param attempt of IN_DELIVERY
 * @param differing names of the fields that differ, for CONFLICT, CONFLICT_DONE (all unknown:
 *     empty)
 */
public record Submit(Kind kind, long dueAt, int attempt, List<String> differing) {

  /** As {@link io.punctual.core.store.Submitted.Kind}. */
  public enum Kind {
    CREATED,
    THERE,
    DONE,
    REPLACED,
    CONFLICT,
    CONFLICT_DONE,
    IN_DELIVERY
  }
}
