package io.punctual.server.rest;

import io.punctual.core.schedule.Occurrence;
import io.punctual.server.jobs.ScheduleService;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Ownership;
import io.punctual.server.security.Role;
import io.punctual.server.web.Body;
import io.punctual.server.web.JobFields;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Recurring schedules. */
@RestController
@RequestMapping("/api/v1/schedules")
class SchedulesController {

  private static final int MAX_PREVIEW = 100;
  private static final int DEFAULT_PREVIEW = 20;

  private final ScheduleService schedules;

  SchedulesController(ScheduleService schedules) {
    this.schedules = schedules;
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
    return new PreviewAnswer(
        schedules.preview(request.recurrence(), JobFields.moment("from", from), max).stream()
            .map(Next::of)
            .toList());
  }

  record PreviewAnswer(List<Next> preview) {}

  /** An instant at which a schedule fires, and what the rules of its zone did to it. */
  record Next(Instant at, @Nullable String note) {

    static Next of(Occurrence occurrence) {
      return new Next(occurrence.at(), occurrence.note());
    }
  }
}
