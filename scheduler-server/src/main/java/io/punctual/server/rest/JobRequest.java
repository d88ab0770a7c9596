package io.punctual.server.rest;

import io.punctual.DelayQueueJob;
import io.punctual.DelayQueueJob.Event;
import io.punctual.RetryPolicy;
import io.punctual.conflict.OnConflict;
import io.punctual.core.job.Due;
import io.punctual.core.job.QueueName;
import io.punctual.schedule.TimeRules;
import io.punctual.schedule.Windows;
import io.punctual.server.input.ConflictFields;
import io.punctual.server.input.JobFields;
import io.punctual.server.input.JsonValues.EpochMillis;
import io.punctual.server.jobs.JobChange;
import io.punctual.server.jobs.NewJob;
import io.punctual.server.problem.ApiException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A job to submit, or what a waiting job shall become: then, parts that are absent stay. */
record JobRequest(
    @Nullable String application,
    @Nullable String taskType,
    @Nullable String taskId,
    @Nullable EpochMillis delayTime,
    @Nullable Duration delay,
    @Nullable Instant dueAt,
    @Nullable String params,
    @Nullable Duration timeToRun,
    @Nullable RetryPolicy retry,
    @Nullable Map<String, String> headers,
    @Nullable List<String> tags,
    @Nullable Instant notAfter,
    @Nullable Duration expiresIn,
    @Nullable Duration within,
    @Nullable String window,
    @Nullable String windowZone,
    @Nullable String calendar,
    @Nullable List<EventName> cancelOn,
    @Nullable List<EventName> runOn) {

  /** An event that a job names. */
  record EventName(String name, String key) {

    EventName {
      name = JobFields.requiredName("name", name);
      key = JobFields.eventKey("key", key);
    }

    static List<Event> events(@Nullable List<EventName> given) {
      return given == null
          ? List.of()
          : given.stream().map(event -> new Event(event.name(), event.key())).toList();
    }

    static List<EventName> of(List<Event> events) {
      return events.stream().map(event -> new EventName(event.name(), event.key())).toList();
    }
  }

  /**
   * Makes the job to submit.
   *
   * @param key names the job if the request does not
   * @param conflict what to do if a job of its id is there
   * @throws ApiException 400 for a job that is none, 403 for another application's
   */
  NewJob job(IdempotencyKey key, ConflictFields conflict) {
    QueueName queue =
        new QueueName(
            JobFields.application(application), JobFields.requiredName("taskType", taskType));
    String id = JobFields.name("taskId", taskId);
    OnConflict onConflict = conflict.read();
    if (!onConflict.equals(OnConflict.REFUSE) && id == null && !key.isGiven()) {
      throw ApiException.invalid(
          "taskId", "is missing: without it the id is random and never in conflict");
    }
    DelayQueueJob job =
        checked(
            id != null ? id : key.taskId(queue),
            queue.taskType(),
            onConflict.isDebounce() ? quiet(conflict) : JobFields.due(delayTime, delay, dueAt),
            windowZone,
            onConflict);
    return new NewJob(queue.application(), job, id != null);
  }

  private Due quiet(ConflictFields conflict) {
    if (delayTime != null || delay != null || dueAt != null) {
      throw ApiException.invalid(
          delayTime != null ? "delayTime" : delay != null ? "delay" : "dueAt",
          "must not be given with onConflict=debounce: quiet and atMost say when the job is due");
    }
    return Due.in(JobFields.required("quiet", conflict.quiet()).toMillis());
  }

  /**
   * Makes the change of a waiting job.
   *
   * @throws ApiException 400
   */
  JobChange change() {
    if (application != null || taskType != null || taskId != null) {
      throw ApiException.invalid(
          application != null ? "application" : taskType != null ? "taskType" : "taskId",
          "cannot be changed: it stands in the address");
    }
    if (expiresIn != null) {
      throw ApiException.invalid(
          "expiresIn", "counts from the submit and cannot be changed: give notAfter");
    }
    if (cancelOn != null || runOn != null) {
      throw ApiException.invalid(
          cancelOn != null ? "cancelOn" : "runOn",
          "cannot be changed: submit the job again with ?onConflict=replace");
    }
    Due due = JobFields.dueOrNull(delayTime, delay, dueAt);
    // A zone alone belongs to the window that the job has.
    boolean zoned = window != null || calendar != null;
    DelayQueueJob given =
        checked(
            "x", "x", due != null ? due : Due.in(0), zoned ? windowZone : null, OnConflict.REFUSE);
    boolean content =
        params != null
            || timeToRun != null
            || retry != null
            || headers != null
            || tags != null
            || notAfter != null
            || within != null
            || window != null
            || windowZone != null
            || calendar != null;
    if (!content && due == null) {
      throw ApiException.invalid(
          "delayTime",
          "is missing, and nothing else is to be changed: give a new time (delayTime, delay or"
              + " dueAt), or new params, headers, tags, timeToRun, retry, notAfter, within, window,"
              + " windowZone or calendar. A field that is null stays as it is; to take a rule off,"
              + " submit the job again with ?onConflict=replace");
    }
    return new JobChange(
        due,
        content
            ? old ->
                old.toBuilder()
                    .due(due != null ? due : old.due())
                    .params(params != null ? params : old.params())
                    .timeToRun(timeToRun != null ? timeToRun : old.timeToRun())
                    .retry(retry != null ? retry : old.retry())
                    .headers(headers != null ? given.headers() : old.headers())
                    .tags(tags != null ? given.tags() : old.tags())
                    .timeRules(changed(old.timeRules()))
                    .build()
            : null,
        params == null ? 0 : params.length());
  }

  private TimeRules changed(TimeRules old) {
    try {
      return rules(old);
    } catch (IllegalArgumentException e) {
      throw JobFields.named(e);
    }
  }

  private TimeRules rules(TimeRules old) {
    return new TimeRules(
        notAfter != null ? notAfter : old.notAfter(),
        notAfter != null ? null : old.expiresIn(),
        within != null ? within : old.within(),
        window != null ? windows() : old.window(),
        windowZone != null ? JobFields.zone("windowZone", windowZone) : old.windowZone(),
        calendar != null ? calendar : old.calendar());
  }

  private @Nullable Windows windows() {
    return window == null ? null : Windows.parse(window);
  }

  private DelayQueueJob checked(
      String id, String type, Due due, @Nullable String zone, OnConflict onConflict) {
    try {
      DelayQueueJob.Builder job = DelayQueueJob.of(type).taskId(id);
      return (due.relative()
              ? job.delay(Duration.ofMillis(due.millis()))
              : job.delayTime(due.millis()))
          .params(JobFields.params("params", params))
          .timeToRun(JobFields.timeToRun(timeToRun))
          .retry(retry)
          .headers(Objects.requireNonNullElse(headers, Map.of()))
          .tags(Objects.requireNonNullElse(tags, List.of()))
          .timeRules(
              new TimeRules(
                  notAfter,
                  expiresIn,
                  within,
                  windows(),
                  JobFields.zone("windowZone", zone),
                  calendar))
          .cancelOn(EventName.events(cancelOn))
          .runOn(EventName.events(runOn))
          .onConflict(onConflict)
          .build();
    } catch (IllegalArgumentException e) {
      throw JobFields.named(e);
    }
  }
}
