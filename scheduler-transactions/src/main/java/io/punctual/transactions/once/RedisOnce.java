package io.punctual.transactions.once;

import io.punctual.RetryLaterException;
import io.punctual.TaskContext;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Keeps a mark of each job beside its work: first that it runs, then that it is done. Between the
 * end of the work and the second mark lies a gap, in which a process that dies leaves a job that
 * runs again.
 */
public final class RedisOnce implements OnceFilter {

  private static final Logger log = LoggerFactory.getLogger(RedisOnce.class);
  private static final String RUNNING = "running";
  private static final String DONE = "done";
  // Behind the deadline a worker is interrupted, and needs a moment to end.
  private static final Duration MARGIN = Duration.ofSeconds(5);
  // Behind the end of another one's mark: clocks of the scheduler and of Redis run apart.
  private static final Duration AFTERWARDS = Duration.ofSeconds(1);
  // What Redis says of a key that is not there.
  private static final long GONE = -2;

  private final StringRedisTemplate redis;
  private final String application;
  private final Duration retention;

  /**
   * @param application whose jobs these are, in lower case
   * @param retention how long a job is remembered
   */
  public RedisOnce(StringRedisTemplate redis, String application, Duration retention) {
    this.redis = redis;
    this.application = application;
    this.retention = retention;
  }

  @Override
  public boolean run(TaskContext context, Work work) throws Exception {
    String key = key(context);
    Duration held = held(context);
    while (!Boolean.TRUE.equals(redis.opsForValue().setIfAbsent(key, RUNNING, held))) {
      if (DONE.equals(redis.opsForValue().get(key))) {
        return false;
      }
      Long marked = redis.getExpire(key, TimeUnit.MILLISECONDS);
      if (marked == null || marked != GONE) {
        throw new RetryLaterException(
            delay(marked, held),
            "another delivery of this job runs, or died while it ran; this one comes again when the"
                + " time of that one is over");
      }
      // It went between two questions.
    }
    boolean done = false;
    try {
      work.run();
      done = true;
    } finally {
      // Clients of Redis make no call for a thread that is interrupted, as one is whose time is
      // over.
      boolean interrupted = Thread.interrupted();
      try {
        if (done) {
          remember(key);
        } else if (Instant.now().isBefore(context.deadline().plus(MARGIN))) {
          // Ours still: nobody else can have put a mark there.
          forget(key);
        }
      } finally {
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
      }
    }
    return true;
  }

  @Override
  public void extended(TaskContext context) {
    var unused = redis.expire(key(context), held(context));
  }

  private String key(TaskContext context) {
    return "punctual-once/%s/%s/%s/%s"
        .formatted(application, context.taskType(), context.taskId(), context.incarnation());
  }

  private static Duration held(TaskContext context) {
    Duration left = Duration.between(Instant.now(), context.deadline());
    return (left.isNegative() ? Duration.ZERO : left).plus(MARGIN);
  }

  /**
   * Until the mark of another delivery is gone. All of that time at once: each time that a job
   * comes again is one of the attempts that it has.
   *
   * @param held how long a mark of this delivery would stay, which is no shorter than that of one
   *     before it; what stays longer is no such mark, but one that the job is done
   */
  private static Duration delay(@Nullable Long leftMs, Duration held) {
    Duration left =
        leftMs == null || leftMs < 0 || leftMs > held.toMillis() ? held : Duration.ofMillis(leftMs);
    return left.plus(AFTERWARDS);
  }

  private void remember(String key) {
    try {
      redis.opsForValue().set(key, DONE, retention);
    } catch (RuntimeException e) {
      // The work is done; to fail now would do it again.
      log.error("That {} is done was not stored: if it is delivered again, it runs again", key, e);
    }
  }

  private void forget(String key) {
    try {
      var unused = redis.delete(key);
    } catch (RuntimeException e) {
      log.warn("That {} runs is still stored: it runs again when its time is over", key, e);
    }
  }
}
