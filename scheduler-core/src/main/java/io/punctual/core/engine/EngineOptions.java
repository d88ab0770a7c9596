package io.punctual.core.engine;

import io.punctual.RetryPolicy;
import io.punctual.core.queue.QueueName;
import java.time.Duration;
import java.util.function.Function;

/**
 * How an engine works. {@link #defaults} is what everybody gets who sets nothing.
 *
 * @param owner who this engine is, shown with its leases: 1 to 128 characters without spaces
 * @param lease how long a claim lasts unless extended: 1 s to 5 min. Jobs of a dead scheduler or
 *     worker move on after this time; a shorter lease costs more heartbeats
 * @param maxClaim most jobs of one claim, 1 to 200
 * @param buckets buckets of a queue that is new, 1 to 64; a known queue keeps its number
 * @param retry the retry policy of jobs that bring none, by queue
 * @param safetyCheck longest sleep of a scanner whose bucket has something due soon
 * @param idleChecksPerSecond bound on the safety checks of all idle buckets together
 */
public record EngineOptions(
    String owner,
    Duration lease,
    int maxClaim,
    int buckets,
    Function<QueueName, RetryPolicy> retry,
    Duration safetyCheck,
    int idleChecksPerSecond) {

  /**
   * The defaults: lease 10 s, claims of 200, one bucket, a check a second, 100 idle checks a
   * second.
   */
  public static EngineOptions defaults(String owner) {
    return new EngineOptions(
        owner,
        Duration.ofSeconds(10),
        200,
        1,
        queue -> RetryPolicy.DEFAULT,
        Duration.ofSeconds(1),
        100);
  }
}
