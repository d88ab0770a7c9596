package io.punctual.spring.plugin;

import io.punctual.Limits;
import io.punctual.RetryPolicy;
import io.punctual.core.store.durability.Durability;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.spring.Once;
import io.punctual.spring.Transactions;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How an application runs its own jobs.
 *
 * @param enabled whether the starter does anything
 * @param application the name of the application whose jobs these are; default
 *     spring.application.name. Instances of one application share its jobs
 * @param concurrency jobs of each task type that this instance runs at once, 1 to 10,000; more of
 *     them wait in Redis for this instance or another one
 * @param scanInterval how often a scanner looks even if nothing wakes it, 10 ms to 1 min
 * @param retry the retry policy of jobs that bring none
 * @param queues settings of single task types, a list: {@code task-type}, {@code threads} (jobs of
 *     it that this instance runs at once, 1 to 10,000), {@code scan-interval}, {@code time-to-run},
 *     {@code retry} and {@code once}; what is not given is as for all
 * @param keyPrefix first part of every key in Redis; applications and schedulers that share jobs
 *     have the same
 * @param durability where a change must be before it is answered: {@code auto} at one replica if
 *     Redis has one, {@code redis} for what Redis is configured to, {@code synced} on its disk,
 *     {@code replicated:n} at n replicas, 1 to 9
 * @param transactions when what is sent, cancelled or moved inside of a Spring transaction takes
 *     effect: after-commit, and never if it is rolled back; or immediate. With an outbox, of those
 *     alone that it does not take part in
 * @param submit whether new jobs go to this Redis although the client starter is there as well,
 *     whose schedulers get them otherwise; without that starter they always do
 * @param shutdownPatience how long running jobs may take once the application stops; what runs
 *     longer is interrupted and delivered again
 */
@ConfigurationProperties("punctual.plugin")
public record PunctualPluginProperties(
    @DefaultValue("true") boolean enabled,
    @Nullable String application,
    @DefaultValue("16") int concurrency,
    @DefaultValue("1s") Duration scanInterval,
    @DefaultValue("default") String retry,
    @DefaultValue List<Queue> queues,
    @DefaultValue("punctual") String keyPrefix,
    @DefaultValue("auto") String durability,
    @DefaultValue("after-commit") Transactions transactions,
    @DefaultValue("false") boolean submit,
    @DefaultValue("20s") Duration shutdownPatience) {

  /** Checks the values. */
  public PunctualPluginProperties {
    PluginTasks.requireThreads("punctual.plugin.concurrency", concurrency);
    PluginTasks.requireInterval("punctual.plugin.scan-interval", scanInterval);
    policy("punctual.plugin.retry", retry);
    durability(durability);
    queues = List.copyOf(queues);
    if (shutdownPatience.isNegative()) {
      throw new IllegalArgumentException(
          "punctual.plugin.shutdown-patience must not be negative, but is " + shutdownPatience);
    }
  }

  /**
   * Settings of one task type; what is not given is as for all.
   *
   * @param threads jobs of this type that this instance runs at once, 1 to 10,000
   * @param scanInterval how often its scanner looks even if nothing wakes it, 10 ms to 1 min
   * @param timeToRun how long one attempt may take, 1 s to 24 h: of jobs that this application
   *     submits without a time of their own
   * @param retry the retry policy of its jobs that bring none
   * @param once database: the application's database records which jobs are done, so that none
   *     takes effect twice; or off
   */
  public record Queue(
      String taskType,
      @Nullable Integer threads,
      @Nullable Duration scanInterval,
      @Nullable Duration timeToRun,
      @Nullable String retry,
      @Nullable Once once) {

    /** Checks the values. */
    public Queue {
      Limits.requireName("punctual.plugin.queues[].task-type", String.valueOf(taskType));
      if (threads != null) {
        PluginTasks.requireThreads("punctual.plugin.queues[].threads", threads);
      }
      if (scanInterval != null) {
        PluginTasks.requireInterval("punctual.plugin.queues[].scan-interval", scanInterval);
      }
      if (timeToRun != null) {
        var unused =
            checked(
                "punctual.plugin.queues[].time-to-run", () -> Limits.requireTimeToRun(timeToRun));
      }
      if (retry != null) {
        policy("punctual.plugin.queues[].retry", retry);
      }
    }

    @Nullable RetryPolicy retryPolicy() {
      return retry == null ? null : policy("punctual.plugin.queues[].retry", retry);
    }
  }

  RetryPolicy retryPolicy() {
    return policy("punctual.plugin.retry", retry);
  }

  /** How the store is used. */
  public StoreOptions storeOptions() {
    return new StoreOptions(keyPrefix, StoreOptions.DEFAULTS.tombstones(), durability(durability));
  }

  private static Durability durability(String text) {
    return checked(
        "punctual.plugin.durability", () -> Durability.parse(text, Durability.DEFAULT.patience()));
  }

  private static RetryPolicy policy(String property, String text) {
    return checked(property, () -> RetryPolicy.parse(text));
  }

  private static <T> T checked(String property, Supplier<T> value) {
    try {
      return value.get();
    } catch (IllegalArgumentException e) {
      // Without its cause: of a chain, Spring Boot shows the innermost message alone.
      throw new IllegalArgumentException(property + ": " + e.getMessage());
    }
  }
}
