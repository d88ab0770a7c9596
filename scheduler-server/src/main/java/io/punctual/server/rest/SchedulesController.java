package io.punctual.server.rest;

import io.punctual.core.Schedules;
import io.punctual.core.schedule.Occurrence;
import io.punctual.core.schedule.ScheduleName;
import io.punctual.server.input.Body;
import io.punctual.server.input.JobFields;
import io.punctual.server.input.ScheduleRequest;
import io.punctual.server.jobs.JobRef;
import io.punctual.server.jobs.ScheduleService;
import io.punctual.server.problem.ApiException;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Ownership;
import io.punctual.server.security.Role;
import io.punctual.server.web.StoreHeaders;
import java.net.URI;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Recurring schedules: put, find, list, delete, pause, run, backfill, preview. */
@RestController
@RequestMapping("/api/v1/schedules")
class SchedulesController {

  private static final String SCHEDULE = "/{application}/{taskType}/{scheduleId}";
  private static final int MAX_PREVIEW = 100;
  private static final int DEFAULT_PREVIEW = 20;
  private static final int MAX_PAGE = 200;
  private static final int MAX_DECLARED = 1000;

  private final ScheduleService schedules;

  SchedulesController(ScheduleService schedules) {
    this.schedules = schedules;
  }

  /**
   * Creates a schedule or replaces it; the same again changes nothing.
   *
   * @param ifNoneMatch null, or {@code *} to replace none
   */
  @Allowed(value = Role.ADMIN, applications = true)
  @PutMapping(SCHEDULE)
  ResponseEntity<ScheduleResponse> put(
      ScheduleName name,
      @Body ScheduleRequest request,
      @RequestHeader(value = "If-None-Match", required = false) @Nullable String ifNoneMatch) {
    if (request.application() != null) {
      throw ApiException.invalid("application", "stands in the address");
    }
    if (ifNoneMatch != null && !ifNoneMatch.strip().equals("*")) {
      throw ApiException.invalid("If-None-Match", "must be *: schedules have no entity tags");
    }
    Schedules.PutAnswer answer;
    try {
      answer =
          ifNoneMatch == null
              ? schedules.put(name, request.definition())
              : schedules.create(name, request.definition());
    } catch (IllegalArgumentException e) {
      throw JobFields.named(e);
    }
    Schedules.View view = java.util.Objects.requireNonNull(answer.schedule());
    ResponseEntity.BodyBuilder response =
        answer.outcome() == Schedules.Put.CREATED
            ? ResponseEntity.created(URI.create("/api/v1/schedules/" + name))
            : ResponseEntity.ok();
    return response.body(ScheduleResponse.of(view, ScheduleRequest.word(answer.outcome()), null));
  }

  @Allowed(value = Role.VIEWER, applications = true)
  @GetMapping(SCHEDULE)
  ScheduleResponse find(
      ScheduleName name,
      @RequestParam(required = false) @Nullable String preview,
      @RequestParam(required = false) @Nullable String from) {
    Schedules.View view = schedules.find(name);
    if (preview == null) {
      return ScheduleResponse.of(view, null, null);
    }
    List<Occurrence> next =
        schedules.next(
            view.definition(),
            JobFields.moment("from", from),
            Page.limit(preview, "preview", MAX_PREVIEW));
    return ScheduleResponse.of(view, null, ScheduleResponse.Next.of(next));
  }

  /** Lists schedules by application, task type and id. */
  @Allowed(value = Role.VIEWER, applications = true)
  @GetMapping
  Page<ScheduleResponse> list(
      @RequestParam(name = "application", required = false) @Nullable String given,
      @RequestParam(required = false) @Nullable String taskType,
      @RequestParam(required = false) @Nullable String cursor,
      @RequestParam(required = false) @Nullable String limit) {
    String application = JobFields.name("application", Ownership.application(given));
    Schedules.Page page =
        schedules.list(
            application, JobFields.name("taskType", taskType), cursor, Page.limit(limit, MAX_PAGE));
    return new Page<>(
        page.schedules().stream().map(view -> ScheduleResponse.of(view, null, null)).toList(),
        page.next(),
        page.damaged().stream().map(ScheduleName::toString).toList());
  }

  record Deleted(String application, String taskType, String id, String outcome) {}

  /** Deletes a schedule; jobs that were submitted stay. */
  @Allowed(value = Role.ADMIN, applications = true)
  @DeleteMapping(SCHEDULE)
  Deleted delete(ScheduleName name) {
    schedules.delete(name);
    return new Deleted(name.queue().application(), name.queue().taskType(), name.id(), "deleted");
  }

  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping(SCHEDULE + "/pause")
  ScheduleResponse pause(ScheduleName name) {
    return ScheduleResponse.of(schedules.pause(name, true), null, null);
  }

  /** The next occurrence is computed from now on. */
  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping(SCHEDULE + "/resume")
  ScheduleResponse resume(ScheduleName name) {
    return ScheduleResponse.of(schedules.pause(name, false), null, null);
  }

  /** A job that was submitted for a schedule. */
  record Submitted(Instant at, String taskId, String outcome) {

    static Submitted of(Schedules.Run run) {
      StoreHeaders.add(run.answer().reached());
      return new Submitted(run.planned(), run.taskId(), ScheduleRequest.word(run.answer().kind()));
    }
  }

  /** Submits a job besides those that are planned. */
  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping(SCHEDULE + "/run")
  Submitted run(ScheduleName name) {
    return Submitted.of(schedules.run(name));
  }

  record Backfill(
      @Nullable Instant from,
      @Nullable Instant until,
      @Nullable Integer limit,
      @Nullable String policy) {}

  /**
   * The answer to a backfill.
   *
   * @param next the first instant that is left; null if none is
   */
  record Backfilled(List<Submitted> items, @Nullable Instant next) {}

  /** Submits the jobs of planned instants of the past or the future. */
  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping(SCHEDULE + "/backfill")
  Backfilled backfill(ScheduleName name, @Body Backfill request) {
    Instant from = JobFields.required("from", request.from());
    Instant until = JobFields.required("until", request.until());
    if (!"start".equals(JobFields.required("policy", request.policy()))) {
      throw ApiException.invalid(
          "policy", "must be start: all jobs are submitted, whatever else of the schedule runs");
    }
    int limit = JobFields.integer("limit", request.limit(), 100, 1, ScheduleService.MAX_BACKFILL);
    Schedules.Backfill done = schedules.backfill(name, from, until, limit);
    return new Backfilled(done.runs().stream().map(Submitted::of).toList(), done.next());
  }

  record Declaration(@Nullable String application, @Nullable List<String> taskTypes) {}

  record Declared(int declared) {}

  /** Declares the schedules that an instance has in its code: their ids are these task types. */
  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/declare")
  Declared declare(@Body Declaration request) {
    String application = JobFields.application(request.application());
    List<String> types =
        JobFields.names("taskTypes", JobFields.required("taskTypes", request.taskTypes()));
    if (types.size() > MAX_DECLARED) {
      throw ApiException.invalid("taskTypes", "must be at most " + MAX_DECLARED);
    }
    try {
      return new Declared(
          schedules.declare(
              application,
              types.stream()
                  .map(type -> new ScheduleName(JobRef.queue(application, type), type))
                  .toList()));
    } catch (IllegalArgumentException e) {
      throw ApiException.invalid("taskTypes", "must be valid ids of schedules: " + e.getMessage());
    }
  }

  /** Shows when a schedule would fire, and stores nothing. */
  @Allowed(value = Role.VIEWER, applications = true)
  @PostMapping("/preview")
  PreviewAnswer preview(
      @Body ScheduleRequest request,
      @RequestParam(required = false) @Nullable String preview,
      @RequestParam(required = false) @Nullable String from) {
    if (request.application() != null) {
      Ownership.require(request.application());
    }
    int max = preview == null ? DEFAULT_PREVIEW : Page.limit(preview, "preview", MAX_PREVIEW);
    try {
      return new PreviewAnswer(
          ScheduleResponse.Next.of(
              schedules.preview(request.definition(), JobFields.moment("from", from), max)));
    } catch (IllegalArgumentException e) {
      throw JobFields.named(e);
    }
  }

  record PreviewAnswer(List<ScheduleResponse.Next> preview) {}
}
