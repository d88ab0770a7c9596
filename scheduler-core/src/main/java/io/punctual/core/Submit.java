package io.punctual.core;

import io.punctual.core.job.JobVersion;
import io.punctual.core.store.Submitted;
import io.punctual.core.store.durability.Reached;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a submit.
 *
 * @param dueAt epoch ms: due time, or when the job of that id finished
 * @param attempt of IN_DELIVERY
 * @param version of the job that is there; its incarnation is empty where its record is not
 *     readable. Null for ALREADY_DONE and CONFLICT_DONE
 * @param differing names of the fields that differ, for CONFLICT, CONFLICT_DONE (all unknown:
 *     empty)
 * @param reached where the job was when this was answered
 */
public record Submit(
    Submitted.Kind kind,
    long dueAt,
    int attempt,
    @Nullable JobVersion version,
    List<String> differing,
    Reached reached) {

  /** The same, of a job that was changed since. */
  public Submit changed(Submitted.Kind now, long due, @Nullable JobVersion changed) {
    return new Submit(now, due, attempt, changed, differing, reached);
  }
}
