package io.punctual.server.config;

import io.punctual.Limits;
import io.punctual.RetryPolicy;
import io.punctual.core.queue.QueueName;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * How the scheduler works.
 *
 * @param lease how long a claim lasts unless extended, 1 s to 5 min: after this time the jobs of a
 *     dead scheduler or worker move on; a shorter one costs more heartbeats
 * @param retry the retry policy of jobs that bring none
 * @param buckets buckets of a queue that is new, 1 to 64; a known queue keeps its number
 * @param keyPrefix first part of every key in Redis
 * @param tombstones how long a finished id is remembered, 1 s to 7 days
 * @param shutdownPatience how long open deliveries may take when the scheduler stops
 * @param queues settings of single queues
 * @param dispatch how callbacks are made
 * @param api bounds of the HTTP API
 */
@ConfigurationProperties("punctual")
public record PunctualProperties(
    @DefaultValue("10s") Duration lease,
    @DefaultValue("default") String retry,
    @DefaultValue("1") int buckets,
    @DefaultValue("punctual") String keyPrefix,
    @DefaultValue("10m") Duration tombstones,
    @DefaultValue("20s") Duration shutdownPatience,
    @DefaultValue List<Queue> queues,
    @DefaultValue Dispatch dispatch,
    @DefaultValue Api api) {

  /** Checks the values. */
  public PunctualProperties {
    require(
        "punctual.lease",
        lease.compareTo(Duration.ofSeconds(1)) >= 0 && lease.compareTo(Duration.ofMinutes(5)) <= 0,
        "between 1s and 5m",
        lease);
    require("punctual.buckets", buckets >= 1 && buckets <= 64, "between 1 and 64", buckets);
    require(
        "punctual.shutdown-patience",
        !shutdownPatience.isNegative(),
        "zero or more",
        shutdownPatience);
    policy("punctual.retry", retry);
    queues = List.copyOf(queues);
  }

  /** The retry policy of jobs of this queue that bring none. */
  public RetryPolicy retryOf(QueueName queue) {
    return queues.stream()
        .filter(entry -> entry.name().equals(queue))
        .findFirst()
        .map(entry -> policy("punctual.queues[].retry", entry.retry()))
        .orElseGet(() -> policy("punctual.retry", retry));
  }

  /**
   * Settings of one queue.
   *
   * @param retry its retry policy
   */
  public record Queue(String application, String taskType, String retry) {

    /** Checks the values. */
    public Queue {
      Limits.requireName("punctual.queues[].application", application);
      Limits.requireName("punctual.queues[].task-type", taskType);
      policy("punctual.queues[].retry", retry);
    }

    QueueName name() {
      return new QueueName(application, taskType);
    }
  }

  /**
   * How callbacks are made.
   *
   * @param connectTimeout how long a connection may take
   * @param avoid how long an instance that refused a connection is left alone
   */
  public record Dispatch(
      @DefaultValue("1s") Duration connectTimeout, @DefaultValue("3s") Duration avoid) {

    /** Checks the values. */
    public Dispatch {
      require(
          "punctual.dispatch.connect-timeout",
          connectTimeout.toMillis() >= 1,
          "at least 1ms",
          connectTimeout);
      require("punctual.dispatch.avoid", avoid.toMillis() >= 100, "at least 100ms", avoid);
    }
  }

  /**
   * Bounds of the HTTP API.
   *
   * @param maxBody largest body of one job
   * @param maxBatchBody largest body of a batch
   */
  public record Api(
      @DefaultValue("1MB") DataSize maxBody, @DefaultValue("16MB") DataSize maxBatchBody) {}

  private static RetryPolicy policy(String property, String text) {
    try {
      return RetryPolicy.parse(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(property + ": " + e.getMessage(), e);
    }
  }

  private static void require(
      String property, boolean holds, String range, @Nullable Object value) {
    if (!holds) {
      throw new IllegalArgumentException(property + " must be " + range + ", not " + value);
    }
  }
}
