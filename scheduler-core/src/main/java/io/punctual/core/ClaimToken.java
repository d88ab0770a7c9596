package io.punctual.core;

import io.punctual.core.job.LeaseToken;
import io.punctual.core.job.QueueName;
import io.punctual.internal.AttemptToken;

/**
 * The right to speak for one attempt, of a job that was pulled or deferred, and all that is needed
 * to find it again: schedulers keep nothing about those who pull or finish later. Who has the text
 * can end the attempt; nobody can guess it.
 */
public record ClaimToken(QueueName queue, String taskId, String incarnation, LeaseToken lease) {

  /** As one word of [A-Za-z0-9_-]. */
  public String text() {
    return new AttemptToken(
            queue.application(), queue.taskType(), taskId, incarnation, lease.value())
        .text();
  }

  /**
   * Reads {@link #text} back.
   *
   * @throws IllegalArgumentException if it is no such text
   */
  public static ClaimToken parse(String text) {
    try {
      return of(AttemptToken.parse(text));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "is no token of a claim; take it as it came with the job", e);
    }
  }

  /**
   * The same, of what was read already.
   *
   * @throws IllegalArgumentException if a part of it is none that a claim has
   */
  public static ClaimToken of(AttemptToken token) {
    return new ClaimToken(
        new QueueName(token.application(), token.taskType()),
        token.taskId(),
        token.incarnation(),
        new LeaseToken(token.lease()));
  }
}
