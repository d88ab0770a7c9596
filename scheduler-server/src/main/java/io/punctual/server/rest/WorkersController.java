package io.punctual.server.rest;

import io.punctual.server.probe.ProbeRequests;
import io.punctual.server.probe.ProbeResult;
import io.punctual.server.probe.Prober;
import io.punctual.server.probe.WorkerReport;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Ownership;
import io.punctual.server.security.Role;
import io.punctual.server.web.Body;
import io.punctual.server.web.JobFields;
import java.time.Instant;
import java.util.List;
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

  WorkersController(Prober doctor, ProbeRequests probes) {
    this.probes = probes;
    this.doctor = doctor;
  }

  /** By application and instance; the cursor is the last of the page before. */
  @Allowed(value = Role.VIEWER, applications = true)
  @GetMapping("/api/v1/workers")
  Page<Worker> list(
      @RequestParam(name = "application", required = false) @Nullable String given,
      @RequestParam(required = false) @Nullable String cursor,
      @RequestParam(required = false) @Nullable String limit) {
    int max = Page.limit(limit, MAX_PAGE);
    String application = JobFields.name("application", Ownership.application(given));
    List<WorkerReport> found =
        doctor.workers(application).stream()
            .filter(report -> cursor == null || report.key().compareTo(cursor) > 0)
            .limit(max + 1L)
            .toList();
    return new Page<>(
        found.stream().limit(max).map(Worker::of).toList(),
        found.size() > max ? found.get(max - 1).key() : null);
  }

  /** Calls an instance now, with nothing to run. */
  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping("/api/v1/workers:probe")
  Worker probe(@Body Probe probe) {
    return Worker.of(probes.probe(probe.application(), probe.instance()));
  }

  record Probe(String application, String instance) {

    Probe {
      application = JobFields.application(application);
      instance = JobFields.required("instance", instance);
    }
  }

  record Worker(
      String application,
      String instance,
      String callback,
      List<String> taskTypes,
      String protocol,
      int concurrency,
      int inFlight,
      @Nullable Instant avoidedUntil,
      @Nullable Instant lastCallAt,
      @Nullable String lastCallError,
      @Nullable Probed diagnosis) {

    static Worker of(WorkerReport report) {
      ProbeResult diagnosis = report.diagnosis();
      return new Worker(
          report.application(),
          report.instance(),
          report.callback(),
          report.taskTypes(),
          report.protocol(),
          report.concurrency(),
          report.inFlight(),
          report.avoidedUntil(),
          report.lastCallAt(),
          report.lastCallError(),
          diagnosis == null ? null : Probed.of(diagnosis));
    }
  }

  record Probed(
      String status,
      String code,
      String seen,
      @Nullable String cure,
      String url,
      Instant at,
      @Nullable Long clockAheadMs,
      @Nullable String version) {

    static Probed of(ProbeResult diagnosis) {
      return new Probed(
          diagnosis.status().word(),
          diagnosis.code().word(),
          diagnosis.message(),
          diagnosis.remedy(),
          diagnosis.url(),
          diagnosis.at(),
          diagnosis.clockAheadMs(),
          diagnosis.version());
    }
  }
}
