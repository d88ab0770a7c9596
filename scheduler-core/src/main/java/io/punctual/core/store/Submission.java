package io.punctual.core.store;

import io.punctual.conflict.OnConflict;
import io.punctual.core.job.Due;
import io.punctual.core.job.IndexTags;
import io.punctual.core.job.Origin;
import io.punctual.wire.Limits;
import java.util.List;

/**
 * A job to be stored.
 *
 * @param incarnation made by the caller, new for each submission, of the characters of a name; the
 *     engine's are 7 random ones
 * @param maxAttempts 1 to {@link Limits#MAX_ATTEMPTS}; what the job's or its queue's retry policy
 *     said at this moment
 * @param timeToRun ms that one attempt may take, what a puller gets; 0 if the job does not say
 * @param origin where it comes from; no part of what it is
 * @param tags by which the job can be found; {@link Limits#TAG}, or one of the engine's own
 * @param content opaque to the store; equal content means the same job
 * @param onConflict what becomes of it if a job of its id is there; a debounce is due its quiet
 *     time from now
 */
public record Submission(
    String taskId,
    String incarnation,
    Due due,
    int maxAttempts,
    long timeToRun,
    Origin origin,
    List<String> tags,
    byte[] content,
    OnConflict onConflict) {

  /** Of unknown origin. */
  public Submission(
      String taskId,
      String incarnation,
      Due due,
      int maxAttempts,
      long timeToRun,
      List<String> tags,
      byte[] content,
      boolean replace) {
    this(
        taskId,
        incarnation,
        due,
        maxAttempts,
        timeToRun,
        Origin.UNKNOWN,
        tags,
        content,
        replace ? OnConflict.REPLACE : OnConflict.REFUSE);
  }

  /**
   * The same in another place; a debounce keeps its quiet time, and its window is looked at later.
   */
  public Submission with(Due due, List<String> tags) {
    return new Submission(
        taskId,
        incarnation,
        onConflict.isDebounce() ? this.due : due,
        maxAttempts,
        timeToRun,
        origin,
        tags,
        content,
        onConflict);
  }

  /** Checks what the scripts rely on. */
  public Submission {
    Limits.requireName("incarnation", incarnation);
    if (maxAttempts < 1 || maxAttempts > Limits.MAX_ATTEMPTS) {
      throw new IllegalArgumentException(
          "maxAttempts must be 1 to " + Limits.MAX_ATTEMPTS + ", not " + maxAttempts);
    }
    if (timeToRun < 0) {
      throw new IllegalArgumentException("timeToRun must be 0 or more, not " + timeToRun);
    }
    if (onConflict.isDebounce() && !due.relative()) {
      throw new IllegalArgumentException("a debounced job must be due its quiet time from now");
    }
    tags = checked(tags);
  }

  /** In ascending order, each once. */
  static List<String> checked(List<String> tags) {
    if (tags.isEmpty()) {
      return List.of();
    }
    for (String tag : tags) {
      if (!Limits.TAG.matcher(tag).matches() && !IndexTags.isOne(tag)) {
        throw new IllegalArgumentException("a tag " + Limits.TAG_RULE);
      }
    }
    return tags.stream().sorted().distinct().toList();
  }
}
