package io.punctual;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A job as the scheduler has it.
 *
 * @param at when it is due ({@link State#DELAYED}), until when a worker holds it ({@link
 *     State#RESERVED}), or when it came into the state, by the scheduler's clock
 * @param version the number of its last change, 1 for a job that was not changed since it was
 *     submitted; 0 once it is finished or cancelled
 * @param attempts those that counted so far towards {@code maxAttempts}; null once it is finished
 *     or cancelled, as the scheduler forgets them then
 * @param maxAttempts how many it gets; null once it is finished or cancelled
 * @param params as submitted; null once it is finished or cancelled, and in lists
 * @param headers as submitted; empty in lists
 * @param tags in ascending order
 * @param lastError the last thing that went wrong, in words; null if nothing did
 * @param restorableUntil until when {@link TaskSubmitService#restore} undoes its cancel; null if it
 *     was not cancelled, or cannot be restored
 */
public record JobInfo(
    String taskType,
    String taskId,
    State state,
    Instant at,
    long version,
    @Nullable Integer attempts,
    @Nullable Integer maxAttempts,
    @Nullable String params,
    Map<String, String> headers,
    List<String> tags,
    @Nullable String lastError,
    @Nullable Instant restorableUntil) {

  /** Copies headers and tags. */
  public JobInfo {
    headers = Map.copyOf(headers);
    tags = List.copyOf(tags);
  }

  /** Where a job can be. */
  public enum State {
    /** It waits, due or not. */
    DELAYED,
    /** A worker has it. */
    RESERVED,
    /** It is a dead letter: out of attempts, or rejected. */
    DEAD,
    /** It is done; known for ten minutes after. */
    FINISHED,
    /** It was cancelled; known for ten minutes after. */
    CANCELLED
  }
}
