package io.punctual.core.store;

import io.punctual.core.job.Due;
import io.punctual.core.job.JobVersion;
import io.punctual.core.job.Origin;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A change of a waiting job.
 *
 * @param due the new due time; null keeps the one that it has
 * @param content what it is from now on; null keeps what it is
 * @param seen only if the job is still this version of itself; null for any. New content always
 *     comes with it, since it was made from what was seen
 */
public record Revision(@Nullable Due due, @Nullable NewContent content, @Nullable JobVersion seen) {

  /** Checks what the script relies on. */
  public Revision {
    if (content != null && seen == null) {
      throw new IllegalArgumentException("new content needs the version that it was made from");
    }
  }

  /** Another due time, whatever the job is. */
  public static Revision of(Due due) {
    return new Revision(due, null, null);
  }

  /**
   * New content; as in {@link Submission}.
   *
   * @param incarnation new, so that a late answer to the old content changes nothing
   */
  public record NewContent(
      String incarnation,
      int maxAttempts,
      long timeToRun,
      Origin origin,
      List<String> tags,
      byte[] content) {

    /** Checks what the script relies on. */
    public NewContent {
      tags = Submission.checked(tags);
    }
  }
}
