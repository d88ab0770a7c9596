package io.punctual.server.dispatch;

import io.punctual.Limits;
import io.punctual.core.engine.RepeatCause;
import io.punctual.core.job.JobContent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Ends attempts whose time-to-run is over, each at its own time. */
final class Deadlines implements AutoCloseable {

  private final ScheduledThreadPoolExecutor timer;

  Deadlines() {
    timer = new ScheduledThreadPoolExecutor(1, Thread.ofPlatform().daemon().name("ttr").factory());
    timer.setRemoveOnCancelPolicy(true);
  }

  static Duration timeToRun(JobContent content) {
    return content.timeToRun() == null ? Limits.DEFAULT_TIME_TO_RUN : content.timeToRun();
  }

  static String timeOver(JobContent content) {
    return "no answer within its time-to-run of " + timeToRun(content);
  }

  /**
   * Watches attempts.
   *
   * @param allOver called when every attempt has ended, one of them because its time was over
   * @return to be cancelled when the call is over
   */
  List<? extends Future<?>> watch(List<Attempt> attempts, Runnable allOver) {
    // Jobs that were claimed together mostly have the same limit: one timer for all of them.
    Map<Duration, List<Attempt>> byLimit = new HashMap<>();
    for (Attempt attempt : attempts) {
      byLimit
          .computeIfAbsent(timeToRun(attempt.delivery().content()), limit -> new ArrayList<>())
          .add(attempt);
    }
    List<Future<?>> watches = new ArrayList<>(byLimit.size());
    byLimit.forEach(
        (limit, some) ->
            watches.add(
                timer.schedule(
                    () -> {
                      some.forEach(
                          attempt ->
                              attempt.unknown(
                                  timeOver(attempt.delivery().content()), RepeatCause.TIME_OVER));
                      if (attempts.stream().allMatch(Attempt::isEnded)) {
                        allOver.run();
                      }
                    },
                    limit.toMillis(),
                    TimeUnit.MILLISECONDS)));
    return watches;
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
