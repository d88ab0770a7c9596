package io.punctual.spring;

import io.punctual.ErrorCode;
import io.punctual.PunctualException;
import io.punctual.TaskSubmitService;
import io.punctual.schedule.ScheduleResult;
import io.punctual.spi.JobScheduler;
import io.punctual.wire.Limits;
import java.time.Duration;
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
 * again, until a scheduler takes them or says what is wrong with them. Then declares every few
 * minutes which ones this instance has, so that those that no instance has are known to be
 * orphaned.
 */
public final class AnnotatedSchedules implements SmartLifecycle {

  private static final Logger log = LoggerFactory.getLogger(AnnotatedSchedules.class);
  private static final long MAX_WAIT_MILLIS = 30_000;
  private static final Duration DECLARED_EVERY = Duration.ofMinutes(5);

  private final AnnotatedWorkers workers;
  private final TaskSubmitService tasks;
  private final JobScheduler scheduler;
  private final Duration declaredEvery;
  private volatile @Nullable CountDownLatch stopped;

  public AnnotatedSchedules(
      AnnotatedWorkers workers, TaskSubmitService tasks, JobScheduler scheduler) {
    this(workers, tasks, scheduler, DECLARED_EVERY);
  }

  AnnotatedSchedules(
      AnnotatedWorkers workers,
      TaskSubmitService tasks,
      JobScheduler scheduler,
      Duration declaredEvery) {
    this.workers = workers;
    this.tasks = tasks;
    this.scheduler = scheduler;
    this.declaredEvery = declaredEvery;
  }

  @Override
  public void start() {
    List<AnnotatedWorkers.Recurring> recurring = workers.recurring();
    CountDownLatch stop = new CountDownLatch(1);
    stopped = stop;
    Thread thread = new Thread(() -> run(recurring, stop), "punctual-annotated-schedules");
    thread.setDaemon(true);
    thread.start();
  }

  private void run(List<AnnotatedWorkers.Recurring> recurring, CountDownLatch stop) {
    List<AnnotatedWorkers.Recurring> left = new ArrayList<>(recurring);
    List<String> types =
        recurring.stream()
            .map(AnnotatedWorkers.Recurring::taskType)
            // Another one is refused as the id of a schedule.
            .filter(type -> type.length() <= Limits.MAX_SCHEDULE_ID)
            .toList();
    long calm = declaredEvery.toMillis();
    // An instance without schedules has time to say so: another version of it may have some.
    long wait = recurring.isEmpty() ? calm : 0;
    long again = 1000;
    try {
      while (!stop.await(wait, TimeUnit.MILLISECONDS)) {
        left.removeIf(this::isDealtWith);
        boolean done = declare(types) && left.isEmpty();
        again = done ? 1000 : Math.min(MAX_WAIT_MILLIS, again * 2);
        wait = done ? calm : again;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean declare(List<String> types) {
    try {
      scheduler.declareSchedules(types);
      return true;
    } catch (RuntimeException e) {
      log.debug("Declaring the schedules of this instance failed; retrying", e);
      return false;
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
            "The schedule of {} was refused: {}. Until you correct @DelayedTask, it does not run.",
            type,
            e.getMessage());
        return true;
      }
      // An operator can correct the cause, such as a wrong token, without a restart.
      log.warn("The schedule of {} could not be stored yet, retrying: {}", type, e.getMessage());
      return false;
    } catch (RuntimeException e) {
      log.warn("The schedule of {} could not be stored yet, retrying", type, e);
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
