package io.punctual.test;

import io.punctual.core.job.JobContent;
import io.punctual.core.job.JobState;
import io.punctual.core.store.query.JobView;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * A job that the scheduler holds now.
 *
 * @param at when it is due; when its lease ends, where it is in delivery; when it died, where it is
 *     dead
 * @param params as it was submitted
 * @param headers as they were submitted
 * @param tags in ascending order
 * @param attempts how many there were that ran or may have run, the one under way not included
 * @param maxAttempts how many its retry policy allows
 * @param failures what went wrong, newest first, the last ten at most
 */
public record StoredJob(
    String taskType,
    String taskId,
    State state,
    Instant at,
    String params,
    Map<String, String> headers,
    List<String> tags,
    int attempts,
    int maxAttempts,
    List<String> failures) {

  /** Where a job is. */
  public enum State {
    /** It waits for its due time, or is due and its type has no worker. */
    WAITING,
    /** A worker has it, or had it and was not heard of since. */
    IN_DELIVERY,
    /** Rejected, or out of attempts: a dead letter. */
    DEAD
  }

  static StoredJob of(JobView job) {
    JobContent content = job.content();
    return new StoredJob(
        job.queue().taskType(),
        job.taskId(),
        state(job.state()),
        Instant.ofEpochMilli(job.at()),
        content == null ? "" : content.params(),
        content == null ? Map.of() : content.headers(),
        job.tags(),
        job.tries().attempts(),
        job.maxAttempts(),
        job.failures().stream().map(failure -> failure.kind() + ": " + failure.message()).toList());
  }

  private static State state(JobState state) {
    return switch (state) {
      case DELAYED -> State.WAITING;
      case RESERVED -> State.IN_DELIVERY;
      case DEAD -> State.DEAD;
      case FINISHED, CANCELLED -> throw new IllegalArgumentException("gone: " + state);
    };
  }

  /** One line, for messages. */
  @Override
  public String toString() {
    return "%s %s: %s, %s %s, params '%s'%s, %d of %d attempts%s"
        .formatted(
            taskType,
            taskId,
            state,
            switch (state) {
              case WAITING -> "due";
              case IN_DELIVERY -> "until";
              case DEAD -> "since";
            },
            at,
            params.length() > 100 ? params.substring(0, 100) + "..." : params,
            tags.isEmpty() ? "" : ", tags " + tags,
            attempts,
            maxAttempts,
            failures.isEmpty() ? "" : ", last " + failures.get(0));
  }
}
