package io.punctual.spring;

import io.punctual.RetryPolicy;
import io.punctual.schedule.Fold;
import io.punctual.schedule.Gap;
import io.punctual.schedule.Missed;
import io.punctual.schedule.Schedule;
import io.punctual.schedule.ScheduleRequest;
import io.punctual.schedule.ScheduleResult;
import io.punctual.schedule.WhileRunning;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/** Collects the parts of a schedule; the scheduler checks them together, when it is put. */
final class SpringScheduleRequest implements ScheduleRequest {

  private final String taskType;
  private final Function<Schedule, ScheduleResult> put;
  private final List<Consumer<Schedule.Builder>> parts = new ArrayList<>();
  private String id;

  /**
   * @param settings of the worker, for what the schedule does not say
   */
  SpringScheduleRequest(
      String taskType,
      String params,
      WorkerSettings settings,
      Function<Schedule, ScheduleResult> put) {
    this.taskType = taskType;
    this.id = taskType;
    this.put = put;
    with(schedule -> schedule.params(params));
    Duration timeToRun = settings.timeToRun();
    if (timeToRun != null) {
      with(schedule -> schedule.timeToRun(timeToRun));
    }
    RetryPolicy retry = settings.retry();
    if (retry != null) {
      with(schedule -> schedule.retry(retry.text()));
    }
  }

  private ScheduleRequest with(Consumer<Schedule.Builder> part) {
    parts.add(part);
    return this;
  }

  @Override
  public ScheduleRequest id(String name) {
    id = name;
    return this;
  }

  @Override
  public ScheduleRequest cron(String expression, ZoneId zone) {
    return with(schedule -> schedule.cron(expression, zone));
  }

  @Override
  public ScheduleRequest every(Duration step, Instant anchor) {
    return with(schedule -> schedule.every(step, anchor));
  }

  @Override
  public ScheduleRequest gap(Gap gap) {
    return with(schedule -> schedule.gap(gap));
  }

  @Override
  public ScheduleRequest fold(Fold fold) {
    return with(schedule -> schedule.fold(fold));
  }

  @Override
  public ScheduleRequest from(Instant first) {
    return with(schedule -> schedule.from(first));
  }

  @Override
  public ScheduleRequest until(Instant last) {
    return with(schedule -> schedule.until(last));
  }

  @Override
  public ScheduleRequest exclude(LocalDate date) {
    return with(schedule -> schedule.exclude(date));
  }

  @Override
  public ScheduleRequest exclude(String calendar) {
    return with(schedule -> schedule.exclude(calendar));
  }

  @Override
  public ScheduleRequest missed(Missed missed) {
    return with(schedule -> schedule.missed(missed));
  }

  @Override
  public ScheduleRequest missed(Missed missed, Duration within) {
    return with(schedule -> schedule.missed(missed, within));
  }

  @Override
  public ScheduleRequest whileRunning(WhileRunning rule) {
    return with(schedule -> schedule.whileRunning(rule));
  }

  @Override
  public ScheduleRequest jitter(Duration most) {
    return with(schedule -> schedule.jitter(most));
  }

  @Override
  public ScheduleRequest tag(String tag) {
    return with(schedule -> schedule.tag(tag));
  }

  @Override
  public ScheduleRequest header(String name, String value) {
    return with(schedule -> schedule.header(name, value));
  }

  @Override
  public ScheduleRequest timeToRun(Duration timeToRun) {
    return with(schedule -> schedule.timeToRun(timeToRun));
  }

  @Override
  public ScheduleRequest retry(String retry) {
    return with(schedule -> schedule.retry(retry));
  }

  @Override
  public ScheduleResult put() {
    Schedule.Builder schedule = Schedule.of(taskType, id);
    parts.forEach(part -> part.accept(schedule));
    return put.apply(schedule.build());
  }
}
