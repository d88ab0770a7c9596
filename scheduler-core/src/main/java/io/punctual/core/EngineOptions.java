package io.punctual.core;

import io.punctual.RetryPolicy;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.JobStore;
import java.time.Duration;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * The options of an engine. {@link #defaults} has the default values.
 *
 * @param owner who this engine is, shown with its leases: 1 to 128 characters without spaces
 * @param lease how long a claim lasts unless extended: 1 s to 5 min. Jobs of a dead scheduler or
 *     worker move on after this time; a shorter lease costs more heartbeats
 * @param maxClaim most jobs of one claim, 1 to 200
 * @param buckets buckets of a queue that is new, 1 to 64; a known queue keeps its number
 * @param retry the retry policy of jobs that bring none, by queue
 * @param safetyCheck longest sleep of a scanner whose bucket has something due soon, by queue: it
 *     is asked each time, and kept between 10 ms and 1 min
 * @param idleChecksPerSecond bound on the safety checks of all idle buckets together, by all
 *     engines of the store, 1 to 100,000; a lower one costs the store less, and lets an idle bucket
 *     wait longer when a hint was lost
 * @param listener is told of what happens
 * @param maxQueues how many queues of one application there may be before a new one is refused;
 *     several engines that make queues at the same moment may exceed it by a few
 * @param eventMemory how long an event is remembered for jobs that are submitted later: 1 s to 7
 *     days
 * @param newStoreExpected whether a store that no engine has used before is no reason to warn, as
 *     on a developer's machine
 */
public record EngineOptions(
    String owner,
    Duration lease,
    int maxClaim,
    int buckets,
    Function<QueueName, RetryPolicy> retry,
    Function<QueueName, Duration> safetyCheck,
    int idleChecksPerSecond,
    EngineListener listener,
    int maxQueues,
    Duration eventMemory,
    boolean newStoreExpected) {

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the option that is out of range
   */
  public EngineOptions {
    if (!OWNER.matcher(owner).matches()) {
      throw new IllegalArgumentException(
          "owner must be 1 to 128 printable characters without spaces, not '" + owner + "'");
    }
    require("lease", lease, Duration.ofSeconds(1), Duration.ofMinutes(5));
    require("maxClaim", maxClaim, JobStore.MAX_JOBS);
    require("buckets", buckets, Bucket.MAX_BUCKETS);
    require("idleChecksPerSecond", idleChecksPerSecond, 100_000);
    require("maxQueues", maxQueues, Integer.MAX_VALUE);
    require("eventMemory", eventMemory, Duration.ofSeconds(1), Duration.ofDays(7));
  }

  private static final Pattern OWNER = Pattern.compile("[\\x21-\\x7e]{1,128}");

  private static void require(String option, Duration value, Duration min, Duration max) {
    if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
      throw new IllegalArgumentException(
          option + " must be between " + min + " and " + max + ", not " + value);
    }
  }

  private static void require(String option, int value, int max) {
    if (value < 1 || value > max) {
      throw new IllegalArgumentException(
          option + " must be between 1 and " + max + ", not " + value);
    }
  }

  /**
   * The defaults: lease 10 s, claims of 200, one bucket, a check a second, 20 idle checks a second,
   * any number of queues, events remembered for 10 min.
   */
  public static EngineOptions defaults(String owner) {
    return new EngineOptions(
        owner,
        Duration.ofSeconds(10),
        200,
        1,
        queue -> RetryPolicy.DEFAULT,
        queue -> Duration.ofSeconds(1),
        20,
        EngineListener.NONE,
        Integer.MAX_VALUE,
        Duration.ofMinutes(10),
        /* newStoreExpected= */ false);
  }

  /** These, to be changed in parts. */
  public Builder with() {
    return new Builder(this);
  }

  /** Options that differ from others in parts. */
  public static final class Builder {

    private final String owner;
    private final int maxClaim;
    private Duration lease;
    private int buckets;
    private Function<QueueName, RetryPolicy> retry;
    private Function<QueueName, Duration> safetyCheck;
    private int idleChecksPerSecond;
    private EngineListener listener;
    private int maxQueues;
    private Duration eventMemory;
    private boolean newStoreExpected;

    private Builder(EngineOptions from) {
      this.owner = from.owner;
      this.maxClaim = from.maxClaim;
      this.lease = from.lease;
      this.buckets = from.buckets;
      this.retry = from.retry;
      this.safetyCheck = from.safetyCheck;
      this.idleChecksPerSecond = from.idleChecksPerSecond;
      this.listener = from.listener;
      this.maxQueues = from.maxQueues;
      this.eventMemory = from.eventMemory;
      this.newStoreExpected = from.newStoreExpected;
    }

    /** See {@link EngineOptions#lease}. */
    public Builder lease(Duration value) {
      lease = value;
      return this;
    }

    /** See {@link EngineOptions#buckets}. */
    public Builder buckets(int value) {
      buckets = value;
      return this;
    }

    /** See {@link EngineOptions#retry}. */
    public Builder retry(Function<QueueName, RetryPolicy> value) {
      retry = value;
      return this;
    }

    /** See {@link EngineOptions#safetyCheck}. */
    public Builder safetyCheck(Function<QueueName, Duration> value) {
      safetyCheck = value;
      return this;
    }

    /** See {@link EngineOptions#idleChecksPerSecond}. */
    public Builder idleChecksPerSecond(int value) {
      idleChecksPerSecond = value;
      return this;
    }

    /** See {@link EngineOptions#listener}. */
    public Builder listener(EngineListener value) {
      listener = value;
      return this;
    }

    /** See {@link EngineOptions#maxQueues}. */
    public Builder maxQueues(int value) {
      maxQueues = value;
      return this;
    }

    /** See {@link EngineOptions#eventMemory}. */
    public Builder eventMemory(Duration value) {
      eventMemory = value;
      return this;
    }

    /** See {@link EngineOptions#newStoreExpected}. */
    public Builder newStoreExpected(boolean value) {
      newStoreExpected = value;
      return this;
    }

    /**
     * The options.
     *
     * @throws IllegalArgumentException naming the one that is out of range
     */
    public EngineOptions build() {
      return new EngineOptions(
          owner,
          lease,
          maxClaim,
          buckets,
          retry,
          safetyCheck,
          idleChecksPerSecond,
          listener,
          maxQueues,
          eventMemory,
          newStoreExpected);
    }
  }
}
