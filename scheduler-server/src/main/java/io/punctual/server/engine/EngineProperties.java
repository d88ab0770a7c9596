package io.punctual.server.engine;

import static io.punctual.server.text.Settings.require;
import static io.punctual.server.text.Settings.wrong;

import io.punctual.RetryPolicy;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.durability.Durability;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.wire.Limits;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties of the engine and its store.
 *
 * @param lease how long a claim lasts unless extended, 1 s to 5 min: after this time the jobs of a
 *     dead scheduler or worker move on; a shorter one costs more heartbeats
 * @param retry the retry policy of jobs that bring none
 * @param buckets buckets of a queue that is new, 1 to 64; a known queue keeps its number
 * @param keyPrefix first part of every key in Redis
 * @param tombstones how long a finished id is remembered, 1 s to 7 days
 * @param durability where a change must be before it is answered: {@code auto} at one replica if
 *     Redis has one, {@code redis} for what Redis is configured to, {@code synced} on its disk,
 *     {@code replicated:n} at n replicas, 1 to 9. A change waits for that for 1 s, or half of
 *     {@code spring.data.redis.timeout} if that is less. Then the answer is 503, and that the
 *     outcome is not known; with auto, changes are answered without a replica from then on until
 *     one confirms again
 * @param durabilityOfEnds whether the ends of attempts, too, wait for one replica where replicas
 *     confirm. Then a fail-over repeats no job whose end a replica has confirmed. Ends that come
 *     together share the wait; without a replica they do not wait
 * @param shutdownPatience how long open deliveries may take when the scheduler stops
 * @param queues settings of single queues, a list: {@code application}, {@code task-type} and the
 *     {@code retry} policy of its jobs that bring none
 * @param maxQueues how many task types of one application there may be, from 1; a job of a further
 *     one is refused
 * @param events how long events are remembered, and who may send them
 * @param maxSchedules how many recurring schedules of one application there may be, from 1; a
 *     further one is refused
 */
@ConfigurationProperties("punctual")
public record EngineProperties(
    @DefaultValue("10s") Duration lease,
    @DefaultValue("default") String retry,
    @DefaultValue("1") int buckets,
    @DefaultValue("punctual") String keyPrefix,
    @DefaultValue("10m") Duration tombstones,
    @DefaultValue("auto") String durability,
    @DefaultValue("false") boolean durabilityOfEnds,
    @DefaultValue("20s") Duration shutdownPatience,
    @DefaultValue List<Queue> queues,
    @DefaultValue("10000") int maxQueues,
    @DefaultValue("10000") int maxSchedules,
    @DefaultValue Events events) {

  /**
   * Events.
   *
   * @param memory how long an event is remembered for jobs that are submitted later, 1 s to 7 days
   * @param rights to which other applications an application may send events, such as {@code
   *     punctual.events.rights.payment=shop,mail}; each may send them to its own jobs
   */
  public record Events(
      @DefaultValue("10m") Duration memory, @DefaultValue Map<String, List<String>> rights) {

    /** Checks the values. */
    public Events {
      require(
          "punctual.events.memory",
          memory.compareTo(Duration.ofSeconds(1)) >= 0 && memory.compareTo(Duration.ofDays(7)) <= 0,
          "between 1s and 7d",
          memory);
    }

    /** Whether an application may send events to another one. */
    public boolean mayReach(String from, String to) {
      return rights.entrySet().stream()
          .filter(right -> right.getKey().equalsIgnoreCase(from))
          .anyMatch(right -> right.getValue().stream().anyMatch(to::equalsIgnoreCase));
    }
  }

  /** Checks the values. */
  public EngineProperties {
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
    require("punctual.max-queues", maxQueues >= 1, "at least 1", maxQueues);
    require("punctual.max-schedules", maxSchedules >= 1, "at least 1", maxSchedules);
    policy("punctual.retry", retry);
    durability(durability, Durability.DEFAULT.patience());
    queues = List.copyOf(queues);
  }

  /**
   * How the store keeps its data.
   *
   * @param patience how long a change waits until it is as durable as asked for
   */
  StoreOptions storeOptions(Duration patience) {
    return new StoreOptions(
        keyPrefix, tombstones, durability(durability, patience), durabilityOfEnds);
  }

  private static Durability durability(String text, Duration patience) {
    try {
      return Durability.parse(text, patience);
    } catch (IllegalArgumentException e) {
      throw wrong("punctual.durability: ", e);
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

  private static RetryPolicy policy(String property, String text) {
    try {
      return RetryPolicy.parse(text);
    } catch (IllegalArgumentException e) {
      throw wrong(property + ": ", e);
    }
  }
}
