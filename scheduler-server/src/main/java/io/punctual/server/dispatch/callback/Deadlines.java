package io.punctual.server.dispatch.callback;

import io.punctual.core.Delivery;
import io.punctual.core.job.JobContent;
import io.punctual.wire.Limits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Ends attempts whose time-to-run is over, each at its own time. */
public final class Deadlines implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Deadlines.class);

  private final ScheduledThreadPoolExecutor timer;

  public Deadlines() {
    timer = new ScheduledThreadPoolExecutor(1, Thread.ofPlatform().daemon().name("ttr").factory());
    timer.setRemoveOnCancelPolicy(true);
  }

  static Duration timeToRun(JobContent content) {
    return content.timeToRun() == null ? Limits.DEFAULT_TIME_TO_RUN : content.timeToRun();
  }

  public static String timeOver(JobContent content) {
    return "no answer within its time-to-run of " + timeToRun(content);
  }

  /**
   * Watches attempts.
   *
   * @param allOver called when every attempt has ended, one of them because its time was over
   * @return to be closed when the call is over
   */
  Watch watch(List<? extends Attempt> attempts, Runnable allOver) {
    // Jobs that were claimed together mostly have the same limit: one timer for all of them.
    Map<Duration, List<Attempt>> byLimit = new HashMap<>();
    for (Attempt attempt : attempts) {
      byLimit
          .computeIfAbsent(timeToRun(attempt.delivery().content()), limit -> new ArrayList<>())
          .add(attempt);
    }
    Watch watch = new Watch(attempts, allOver);
    byLimit.forEach((limit, some) -> watch.look(some, limit, limit));
    return watch;
  }

  /**
   * Runs an action after a while.
   *
   * @return calls it off
   */
  Runnable after(Duration time, Runnable action) {
    Future<?> waiting = timer.schedule(action, time.toNanos(), TimeUnit.NANOSECONDS);
    return () -> waiting.cancel(false);
  }

  /** Runs an action again and again, also after it has thrown. It must not block. */
  public void every(Duration pause, Runnable action) {
    Runnable safe =
        () -> {
          try {
            action.run();
          } catch (Throwable e) {
            // Also an Error: a run that ends with one would be the last.
            log.error("A periodic check failed; it runs again in {}", pause, e);
          }
        };
    var unused =
        timer.scheduleWithFixedDelay(safe, pause.toNanos(), pause.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Looks at the attempts of one call when their time is over. */
  final class Watch implements AutoCloseable {

    private final List<? extends Attempt> attempts;
    private final Runnable allOver;
    private final List<Future<?>> looks = new ArrayList<>();
    private boolean closed;

    private Watch(List<? extends Attempt> attempts, Runnable allOver) {
      this.attempts = attempts;
      this.allOver = allOver;
    }

    private synchronized void look(List<? extends Attempt> some, Duration limit, Duration wait) {
      if (!closed) {
        looks.removeIf(Future::isDone);
        looks.add(timer.schedule(() -> look(some, limit), wait.toNanos(), TimeUnit.NANOSECONDS));
      }
    }

    private void look(List<? extends Attempt> some, Duration limit) {
      for (Attempt attempt : some) {
        Duration more = attempt.extension();
        if (more != null && more.isPositive() && !attempt.isEnded()) {
          look(List.of(attempt), limit, more);
        } else {
          end(attempt, more == null ? "" : ", and with what it asked for");
        }
      }
      if (attempts.stream().allMatch(Attempt::isEnded)) {
        allOver.run();
      }
    }

    private static void end(Attempt attempt, String more) {
      Delivery delivery = attempt.delivery();
      try {
        attempt.timeOver(timeOver(delivery.content()) + more);
      } catch (Throwable e) {
        // Also an Error: the other attempts of the call end in time, too.
        log.error("Ending the attempt of {} after its time to run failed", delivery.taskId(), e);
      }
    }

    /** Looks at nothing any more. */
    @Override
    public synchronized void close() {
      closed = true;
      looks.forEach(look -> look.cancel(false));
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
