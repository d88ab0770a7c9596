package io.punctual.spring;

import io.punctual.ErrorCode;
import io.punctual.PunctualException;
import io.punctual.TaskSubmitService;
import io.punctual.schedule.ScheduleResult;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Puts the schedules of methods that run by themselves, once the application has started; again and
 * again, until a scheduler takes them or says what is wrong with them.
 */
public final class AnnotatedSchedules implements SmartLifecycle {

  private static final Logger log = LoggerFactory.getLogger(AnnotatedSchedules.class);
  private static final long MAX_WAIT_SECONDS = 30;

  private final AnnotatedWorkers workers;
  private final TaskSubmitService tasks;
  private volatile @Nullable CountDownLatch stopped;

  public AnnotatedSchedules(AnnotatedWorkers workers, TaskSubmitService tasks) {
    this.workers = workers;
    this.tasks = tasks;
  }

  @Override
  public void start() {
    List<AnnotatedWorkers.Recurring> recurring = workers.recurring();
    CountDownLatch stop = new CountDownLatch(1);
    stopped = stop;
    if (!recurring.isEmpty()) {
      Thread thread = new Thread(() -> put(recurring, stop), "punctual-annotated-schedules");
      thread.setDaemon(true);
      thread.start();
    }
  }

  private void put(List<AnnotatedWorkers.Recurring> recurring, CountDownLatch stop) {
    List<AnnotatedWorkers.Recurring> left = new ArrayList<>(recurring);
    long wait = 1;
    try {
      do {
        left.removeIf(this::isDealtWith);
        wait = Math.min(MAX_WAIT_SECONDS, wait * 2);
      } while (!left.isEmpty() && !stop.await(wait, TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean isDealtWith(AnnotatedWorkers.Recurring recurring) {
    String type = recurring.taskType();
    try {
      ScheduleResult result = tasks.schedule(type).cron(recurring.cron(), recurring.zone()).put();
      log.info(
          "The schedule of {} is {}; its next run is at {}",
          type,
          result.outcome(),
          result.nextAt() == null ? "no time: it is paused" : result.nextAt());
      return true;
    } catch (PunctualException e) {
      if (e.code() == ErrorCode.INVALID) {
        log.error(
            "The schedule of {} was refused: {}. Correct @DelayedTask; nothing runs by itself until"
                + " then.",
            type,
            e.getMessage());
        return true;
      }
      // What an operator cures, such as a wrong token, needs no restart.
      log.warn("The schedule of {} is not put yet, trying again: {}", type, e.getMessage());
      return false;
    } catch (RuntimeException e) {
      log.warn("The schedule of {} is not put yet, trying again", type, e);
      return false;
    }
  }

  @Override
  public void stop() {
    CountDownLatch stop = stopped;
    stopped = null;
    if (stop != null) {
      stop.countDown();
    }
  }

  @Override
  public boolean isRunning() {
    return stopped != null;
  }
}
