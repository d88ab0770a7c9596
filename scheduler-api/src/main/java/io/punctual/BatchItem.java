package io.punctual;

import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * The answer for one job of {@link TaskSubmitService#sendAll}: either a result or the error.
 *
 * @param result what the submit did; null when {@code error} is given
 * @param error why this job was not stored; null when {@code result} is given
 */
public record BatchItem(
    String taskId, @Nullable SubmitResult result, @Nullable PunctualException error) {

  /** Whether the job is with the scheduler. */
  public boolean accepted() {
    return result != null;
  }

  /**
   * The result.
   *
   * @throws NoSuchElementException if the job was not accepted
   */
  public SubmitResult orThrow() {
    if (result == null) {
      throw new NoSuchElementException("job " + taskId + " was not accepted", error);
    }
    return result;
  }
}
