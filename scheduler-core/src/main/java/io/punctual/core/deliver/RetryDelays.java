package io.punctual.core.deliver;

import io.punctual.RetryPolicy;
import io.punctual.core.job.Ending;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.JobRecord;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.ClaimedJob;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.StoreException;
import io.punctual.core.times.StartTimes;
import io.punctual.core.wake.StoreClock;
import io.punctual.schedule.TimeRules;
import io.punctual.wire.Limits;
import java.time.Duration;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Turns the end of an attempt into what is written, with the wait before the next attempt. */
public final class RetryDelays {

  // Somebody may still be at work: the first waits are short, since most such losses are single.
  private static final long[] UNKNOWN_SECONDS = {1, 2, 5, 10, 30, 60};
  private static final RetryPolicy.Exponential UNDELIVERABLE =
      new RetryPolicy.Exponential(
          Duration.ofSeconds(1), Duration.ofSeconds(60), 0.5, /* maxAttempts= */ 1);

  private final QueueName queue;
  private final Function<QueueName, RetryPolicy> policies;
  private final RandomGenerator random;
  private final StoreClock clock;
  private final StartTimes times;

  public RetryDelays(
      QueueName queue,
      Function<QueueName, RetryPolicy> policies,
      RandomGenerator random,
      StoreClock clock,
      StartTimes times) {
    this.queue = queue;
    this.policies = policies;
    this.random = random;
    this.clock = clock;
    this.times = times;
  }

  /** Ends a job. */
  public Settlement done(ClaimedJob job, Ending ending) {
    return new Settlement(
        Settlement.Op.DONE,
        job.taskId(),
        job.record().incarnation(),
        job.token(),
        Duration.ZERO,
        /* alone= */ false,
        new byte[0],
        job.record(),
        ending);
  }

  /**
   * Ends a failed attempt.
   *
   * @param wish the worker's; null for the policy of the job, else of the queue
   */
  public Settlement failed(
      ClaimedJob job, JobContent content, ErrorNote note, @Nullable Duration wish) {
    Duration delay = delayAfterFailure(content, job.tries().counted(), wish);
    return settlement(Settlement.Op.FAILED, job, inTime(job, content, delay), false, note.encode());
  }

  private @Nullable Duration inTime(ClaimedJob job, JobContent content, Duration delay) {
    return inTime(job.taskId(), content, job.record(), delay);
  }

  /**
   * The delay before an attempt as the job's time rules have it; null if it could not start in
   * time.
   */
  public @Nullable Duration inTime(
      String taskId, JobContent content, JobRecord record, Duration delay) {
    TimeRules rules = content.timeRules();
    if (rules.isNone()) {
      return delay;
    }
    long now = clock.now();
    long last = StartTimes.last(rules, record.acceptedAt());
    long next;
    try {
      next = times.next(taskId, rules, now + delay.toMillis(), last);
    } catch (StoreException e) {
      // No calendar was ever read, and the store is away: the next claim looks again.
      return delay;
    }
    if (next > last) {
      return null;
    }
    return next == StartTimes.NEVER ? delay : Duration.ofMillis(next - now);
  }

  /** Gives a job back that may not start now. */
  public Settlement postponed(ClaimedJob job, Duration delay) {
    return settlement(Settlement.Op.RELEASED, job, delay, false, new byte[0]);
  }

  /**
   * How long a job waits after a failure.
   *
   * @param counted attempts before this one that counted
   * @param wish the worker's; null for the policy of the job, else of the queue
   */
  public Duration delayAfterFailure(JobContent content, int counted, @Nullable Duration wish) {
    if (wish != null) {
      return clamp(wish);
    }
    RetryPolicy policy = content.retry() != null ? content.retry() : policies.apply(queue);
    return clamp(policy.delayAfter(counted + 1, random));
  }

  public Settlement unknown(ClaimedJob job, JobContent content, ErrorNote note, boolean alone) {
    int step = Math.min(job.tries().delivered(), UNKNOWN_SECONDS.length - 1);
    Duration delay = Duration.ofSeconds(UNKNOWN_SECONDS[step]);
    return settlement(
        Settlement.Op.UNKNOWN, job, inTime(job, content, delay), alone, note.encode());
  }

  /**
   * Ends an attempt that reached no worker.
   *
   * @param wish the dispatcher's; null for the job's own back-off
   */
  public Settlement undeliverable(
      ClaimedJob job, JobContent content, ErrorNote note, @Nullable Duration wish) {
    Duration delay =
        wish != null
            ? clamp(wish)
            : UNDELIVERABLE.delayAfter(job.tries().undeliverable() + 1, random);
    return settlement(
        Settlement.Op.UNDELIVERABLE, job, inTime(job, content, delay), false, note.encode());
  }

  public Settlement returned(ClaimedJob job) {
    return settlement(Settlement.Op.RETURNED, job, Duration.ZERO, false, new byte[0]);
  }

  public Settlement expired(ClaimedJob job) {
    return settlement(Settlement.Op.EXPIRED, job, null, false, new byte[0]);
  }

  public Settlement rejected(ClaimedJob job, ErrorNote note) {
    return settlement(Settlement.Op.REJECTED, job, Duration.ZERO, false, note.encode());
  }

  private static Duration clamp(Duration delay) {
    if (delay.isNegative()) {
      return Duration.ZERO;
    }
    return delay.compareTo(Limits.MAX_RETRY_DELAY) > 0 ? Limits.MAX_RETRY_DELAY : delay;
  }

  private static Settlement settlement(
      Settlement.Op op, ClaimedJob job, @Nullable Duration delay, boolean alone, byte[] note) {
    return new Settlement(
        op, job.taskId(), job.record().incarnation(), job.token(), delay, alone, note);
  }
}
