package io.punctual.server.dispatch;

import io.punctual.Limits;
import io.punctual.core.job.JobContent;
import java.time.Duration;
import java.util.List;
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

  /**
   * Watches attempts.
   *
   * @param allOver called when every attempt has ended, one of them because its time was over
   * @return to be cancelled when the call is over
   */
  List<? extends Future<?>> watch(List<Attempt> attempts, Runnable allOver) {
    return attempts.stream()
        .map(
            attempt -> {
              Duration limit = timeToRun(attempt.delivery().content());
              return timer.schedule(
                  () -> {
                    attempt.unknown("no answer within its time-to-run of " + limit);
                    if (attempts.stream().allMatch(Attempt::isEnded)) {
                      allOver.run();
                    }
                  },
                  limit.toMillis(),
                  TimeUnit.MILLISECONDS);
            })
        .toList();
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
