package io.punctual.transactions.once;

import io.punctual.RetryLaterException;
import io.punctual.TaskContext;
import java.time.Duration;
import java.time.Instant;
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
  private static final Duration AGAIN = Duration.ofSeconds(5);

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
    String key =
        "punctual-once/%s/%s/%s/%s"
            .formatted(application, context.taskType(), context.taskId(), context.incarnation());
    Duration left = Duration.between(Instant.now(), context.deadline());
    Duration held = (left.isNegative() ? Duration.ZERO : left).plus(MARGIN);
    long start = System.nanoTime();
    if (!Boolean.TRUE.equals(redis.opsForValue().setIfAbsent(key, RUNNING, held))) {
      if (DONE.equals(redis.opsForValue().get(key))) {
        return false;
      }
      throw new RetryLaterException(
          AGAIN, "another delivery of this job runs, or died while it ran, less than its time ago");
    }
    boolean done = false;
    try {
      work.run();
      done = true;
    } finally {
      if (done) {
        remember(key);
      } else if (System.nanoTime() - start < held.toNanos()) {
        // Ours still: nobody else can have put a mark there.
        forget(key);
      }
    }
    return true;
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
