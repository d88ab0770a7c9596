package io.punctual.server.rest;

import io.punctual.Limits;
import io.punctual.server.probe.ProbeRequests;
import io.punctual.server.probe.ProbeResult;
import io.punctual.server.probe.Prober;
import io.punctual.server.probe.WorkerReport;
import io.punctual.server.problem.ApiException;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Ownership;
import io.punctual.server.security.Role;
import io.punctual.server.web.JsonBody;
import io.punctual.server.web.JsonFields;
import io.punctual.server.web.WebProperties;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Instances, and whether they are reached from here. */
@RestController
class WorkersController {

  private static final int MAX_PAGE = 500;

  private final Prober doctor;
  private final ProbeRequests probes;
  private final WebProperties.Api bounds;

  WorkersController(Prober doctor, ProbeRequests probes, WebProperties properties) {
    this.probes = probes;
    this.doctor = doctor;
    this.bounds = properties.api();
  }

  /** By application and instance; the cursor is the last of the page before. */
  @Allowed(value = Role.VIEWER, applications = true)
  @GetMapping("/api/v1/workers")
  Map<String, Object> list(
      @RequestParam(name = "application", required = false) @Nullable String given,
      @RequestParam(required = false) @Nullable String cursor,
      @RequestParam(required = false) @Nullable String limit) {
    int max = Paging.limit(limit, MAX_PAGE);
    String application = Ownership.application(given);
    if (application != null && !Limits.isName(application)) {
      throw ApiException.invalid("application", Limits.NAME_RULE);
    }
    List<WorkerReport> found =
        doctor.workers(application).stream()
            .filter(report -> cursor == null || report.key().compareTo(cursor) > 0)
            .limit(max + 1L)
            .toList();
    return Paging.page(
        found.stream().limit(max).map(WorkersController::output).toList(),
        found.size() > max ? found.get(max - 1).key() : null);
  }

  /** Calls an instance now, with nothing to run. */
  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping("/api/v1/workers:probe")
  Map<String, Object> probe(HttpServletRequest request) {
    JsonFields fields = JsonBody.read(request, bounds.maxBody().toBytes());
    String application = fields.application();
    String instance = fields.text("instance");
    fields.noMore();
    if (instance == null) {
      throw fields.error("instance", "is missing");
    }
    return output(probes.probe(application, instance));
  }

  private static Map<String, Object> output(WorkerReport report) {
    Map<String, Object> out = new LinkedHashMap<>();
    out.put("application", report.application());
    out.put("instance", report.instance());
    out.put("callback", report.callback());
    out.put("taskTypes", report.taskTypes());
    out.put("protocol", report.protocol());
    out.put("concurrency", report.concurrency());
    out.put("inFlight", report.inFlight());
    out.put("avoidedUntil", moment(report.avoidedUntil()));
    out.put("lastCallAt", moment(report.lastCallAt()));
    out.put("lastCallError", report.lastCallError());
    ProbeResult diagnosis = report.diagnosis();
    out.put("diagnosis", diagnosis == null ? null : output(diagnosis));
    return out;
  }

  private static Map<String, Object> output(ProbeResult diagnosis) {
    Map<String, Object> out = new LinkedHashMap<>();
    out.put("status", diagnosis.status().word());
    out.put("code", diagnosis.code().word());
    out.put("seen", diagnosis.message());
    out.put("cure", diagnosis.remedy());
    out.put("url", diagnosis.url());
    out.put("at", moment(diagnosis.at()));
    out.put("clockAheadMs", diagnosis.clockAheadMs());
    out.put("version", diagnosis.version());
    return out;
  }

  private static @Nullable String moment(@Nullable Instant instant) {
    return instant == null ? null : instant.toString();
  }
}
