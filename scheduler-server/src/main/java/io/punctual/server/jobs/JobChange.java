package io.punctual.server.jobs;

import io.punctual.core.job.Due;
import io.punctual.core.job.JobContent;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A change to a waiting job; parts that are null stay.
 *
 * @param size characters of the new params; 0 where they stay
 */
public record JobChange(@Nullable Due due, @Nullable UnaryOperator<JobContent> content, int size) {

  /** Returns a change of the due time alone. */
  public static JobChange due(Due due) {
    return new JobChange(due, null, 0);
  }

  /** Returns a change of the params alone. */
  public static JobChange params(String params) {
    return new JobChange(null, old -> old.toBuilder().params(params).build(), params.length());
  }
}
