package io.punctual.server.config;

import io.punctual.Limits;
import io.punctual.RetryPolicy;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.durability.Durability;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.server.dispatch.circuit.CircuitOptions;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
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
 * @param durability where a change must be before it is answered: {@code auto} at one replica if
 *     Redis has one, {@code redis} for what Redis is configured to, {@code synced} on its disk,
 *     {@code replicated:n} at n replicas, 1 to 9
 * @param durabilityTimeout how long to wait for that, 10 ms to 10 s, and less than
 *     spring.data.redis.timeout (2 s), after which the connection is given up; then the answer is
 *     503, and that the outcome is not known. With auto, changes are answered without a replica
 *     from then on until one confirms again
 * @param durabilityOfEnds whether the ends of attempts, too, wait for one replica where replicas
 *     confirm. Then a fail-over repeats no job whose end a replica has confirmed. Ends that come
 *     together share the wait; without a replica they do not wait
 * @param shutdownPatience how long open deliveries may take when the scheduler stops
 * @param queues settings of single queues, a list: {@code application}, {@code task-type} and the
 *     {@code retry} policy of its jobs that bring none
 * @param dispatch how callbacks are made
 * @param operatorPort a second port that serves the same, with 200 connections of its own, so that
 *     health, metrics and console are reached whatever happens at {@code server.port}; not opened
 *     unless set
 * @param api bounds of the HTTP API
 * @param quota what one application may keep in Redis and submit
 * @param metrics what is counted
 */
@ConfigurationProperties("punctual")
public record PunctualProperties(
    @DefaultValue("10s") Duration lease,
    @DefaultValue("default") String retry,
    @DefaultValue("1") int buckets,
    @DefaultValue("punctual") String keyPrefix,
    @DefaultValue("10m") Duration tombstones,
    @DefaultValue("auto") String durability,
    @DefaultValue("1s") Duration durabilityTimeout,
    @DefaultValue("false") boolean durabilityOfEnds,
    @DefaultValue("20s") Duration shutdownPatience,
    @DefaultValue List<Queue> queues,
    @DefaultValue Dispatch dispatch,
    @Nullable Integer operatorPort,
    @DefaultValue Api api,
    @DefaultValue Quota quota,
    @DefaultValue Metrics metrics) {

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
    require(
        "punctual.operator-port",
        operatorPort == null || (operatorPort >= 1 && operatorPort <= 65_535),
        "between 1 and 65535",
        String.valueOf(operatorPort));
    policy("punctual.retry", retry);
    durability(durability, durabilityTimeout);
    queues = List.copyOf(queues);
  }

  /** How the store keeps its data. */
  StoreOptions storeOptions() {
    return new StoreOptions(
        keyPrefix, tombstones, durability(durability, durabilityTimeout), durabilityOfEnds);
  }

  private static Durability durability(String text, Duration timeout) {
    try {
      return Durability.parse(text, timeout);
    } catch (IllegalArgumentException e) {
      throw wrong("punctual.durability and punctual.durability-timeout: ", e);
    }
  }

  /** The retry policies of jobs that bring none, by queue. To be asked once: it reads texts. */
  public Function<QueueName, RetryPolicy> retries() {
    RetryPolicy others = policy("punctual.retry", retry);
    Map<QueueName, RetryPolicy> own = new HashMap<>();
    for (Queue entry : queues) {
      own.putIfAbsent(entry.name(), policy("punctual.queues[].retry", entry.retry()));
    }
    return queue -> own.getOrDefault(queue, others);
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
   * @param avoid how long an instance that refused a connection, or answers no job in time, is left
   *     alone; where it answers none, doubled each time up to a minute
   * @param allowedNetworks where instances may be, in CIDR notation (10.0.0.0/8); empty for
   *     everywhere but this machine. Link-local addresses, and those at which clouds tell secrets,
   *     are never called
   * @param requireTls whether workers are called by https only; an instance that the registry shows
   *     with http gets no jobs
   * @param sslBundle the SSL bundle (spring.ssl.bundle) that says which workers are trusted on
   *     https, and with which key this scheduler shows itself to those that ask; default the JVM's
   * @param circuit when the jobs of a queue wait because all that are sent fail
   */
  public record Dispatch(
      @DefaultValue("1s") Duration connectTimeout,
      @DefaultValue("3s") Duration avoid,
      @DefaultValue List<String> allowedNetworks,
      @DefaultValue("false") boolean requireTls,
      @Nullable String sslBundle,
      @DefaultValue Circuit circuit) {

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
   * When the jobs of a queue wait because all that are sent fail.
   *
   * @param failures how many deliveries in a row must fail for that, in the queue or in all queues
   *     of its application together, 10 to 10,000; 0 for never
   * @param pause how long they wait before one of them probes, 100 ms to 10 min; doubled with each
   *     probe that fails, up to a minute
   */
  public record Circuit(@DefaultValue("50") int failures, @DefaultValue("5s") Duration pause) {

    /** Checks the values. */
    public Circuit {
      try {
        var unused = new CircuitOptions(failures, pause);
      } catch (IllegalArgumentException e) {
        throw wrong("punctual.dispatch.circuit.", e);
      }
    }

    CircuitOptions options() {
      return new CircuitOptions(failures, pause);
    }
  }

  /**
   * Bounds of the HTTP API.
   *
   * @param maxBody largest body of one job, less than 1GB
   * @param maxBatchBody largest body of a batch, less than 1GB
   * @param maxQueues how many task types of one application there may be, from 1; a job of a
   *     further one is refused
   */
  public record Api(
      @DefaultValue("1MB") DataSize maxBody,
      @DefaultValue("16MB") DataSize maxBatchBody,
      @DefaultValue("10000") int maxQueues) {

    /** Checks the values. */
    public Api {
      body("punctual.api.max-body", maxBody);
      body("punctual.api.max-batch-body", maxBatchBody);
      require("punctual.api.max-queues", maxQueues >= 1, "at least 1", maxQueues);
    }

    private static void body(String property, DataSize size) {
      require(
          property,
          size.toBytes() >= 1 && size.toGigabytes() < 1,
          "at least 1B and less than 1GB",
          size);
    }
  }

  /**
   * What one application may keep in Redis and submit.
   *
   * @param jobs most jobs of one application, waiting, running and dead; 0 for no limit
   * @param memoryPercent how much of Redis's maxmemory the jobs of one application may take, 1 to
   *     100; 100 for no limit, as where Redis has no maxmemory
   * @param submitsPerSecond most jobs that one application may submit to this scheduler in a
   *     second; 0 for no limit
   */
  public record Quota(
      @DefaultValue("0") long jobs,
      @DefaultValue("50") int memoryPercent,
      @DefaultValue("0") int submitsPerSecond) {

    /** Checks the values. */
    public Quota {
      require("punctual.quota.jobs", jobs >= 0, "zero or more", jobs);
      require(
          "punctual.quota.memory-percent",
          memoryPercent >= 1 && memoryPercent <= 100,
          "between 1 and 100",
          memoryPercent);
      require(
          "punctual.quota.submits-per-second",
          submitsPerSecond >= 0 && submitsPerSecond <= 1_000_000,
          "between 0 and 1000000",
          submitsPerSecond);
    }
  }

  /**
   * What is counted.
   *
   * @param queues how many queues have figures of their own, 0 to 10,000; all others share those of
   *     {@code other}
   * @param sampling how often it is looked how many jobs are in the queues, from 100 ms; with more
   *     than a few hundred buckets it takes longer
   */
  public record Metrics(@DefaultValue("200") int queues, @DefaultValue("5s") Duration sampling) {

    /** Checks the values. */
    public Metrics {
      require(
          "punctual.metrics.queues",
          queues >= 0 && queues <= 10_000,
          "between 0 and 10000",
          queues);
      require("punctual.metrics.sampling", sampling.toMillis() >= 100, "at least 100ms", sampling);
    }
  }

  private static RetryPolicy policy(String property, String text) {
    try {
      return RetryPolicy.parse(text);
    } catch (IllegalArgumentException e) {
      throw wrong(property + ": ", e);
    }
  }

  // Without its cause: Boot shows the innermost message, in which the property is not named.
  private static IllegalArgumentException wrong(String property, IllegalArgumentException e) {
    return new IllegalArgumentException(property + e.getMessage());
  }

  private static void require(
      String property, boolean holds, String range, @Nullable Object value) {
    if (!holds) {
      throw new IllegalArgumentException(property + " must be " + range + ", not " + value);
    }
  }
}
