package io.punctual.test.spring;

import io.punctual.RetryLaterException;
import io.punctual.TaskContext;
import io.punctual.test.WorkerKilledException;
import io.punctual.transactions.once.OnceFilter;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * What {@code once: redis} does, without a Redis and by the test's clock: a mark before the work,
 * which outlives a worker that is killed, and one behind it.
 */
final class OnceInMemory implements OnceFilter {

  private static final Duration MARGIN = Duration.ofSeconds(5);
  private static final Duration AFTERWARDS = Duration.ofSeconds(1);

  private final InstantSource time;
  private final Map<String, Instant> running = new HashMap<>();
  private final Set<String> done = new HashSet<>();

  OnceInMemory(InstantSource time) {
    this.time = time;
  }

  // Workers run one after the other.
  @Override
  public boolean run(TaskContext context, Work work) throws Exception {
    String key = key(context);
    if (done.contains(key)) {
      return false;
    }
    Instant held = running.get(key);
    Instant now = time.instant();
    if (held != null && now.isBefore(held)) {
      throw new RetryLaterException(
          Duration.between(now, held).plus(AFTERWARDS),
          "another delivery of this job runs, or died while it ran; this one comes again when the"
              + " time of that one is over");
    }
    running.put(key, context.deadline().plus(MARGIN));
    try {
      work.run();
    } catch (WorkerKilledException e) {
      throw e;
    } catch (Throwable e) {
      running.remove(key);
      throw e;
    }
    running.remove(key);
    done.add(key);
    return true;
  }

  @Override
  public void extended(TaskContext context) {
    running.computeIfPresent(key(context), (key, held) -> context.deadline().plus(MARGIN));
  }

  private static String key(TaskContext context) {
    return String.join("/", context.taskType(), context.taskId(), context.incarnation());
  }
}
