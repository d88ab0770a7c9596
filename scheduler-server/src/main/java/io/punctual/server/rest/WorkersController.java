package io.punctual.server.rest;

import io.punctual.server.input.Body;
import io.punctual.server.input.JobFields;
import io.punctual.server.probe.Prober;
import io.punctual.server.probe.WorkerReport;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Ownership;
import io.punctual.server.security.Role;
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

  private final Prober prober;

  WorkersController(Prober prober) {
    this.prober = prober;
  }

  /** By application and instance; the cursor is the last of the page before. */
  @Allowed(value = Role.VIEWER, applications = true)
  @GetMapping("/api/v1/workers")
  Page<WorkerReport> list(
      @RequestParam(name = "application", required = false) @Nullable String given,
      @RequestParam(required = false) @Nullable String cursor,
      @RequestParam(required = false) @Nullable String limit) {
    int max = Page.limit(limit, MAX_PAGE);
    String application = JobFields.name("application", Ownership.application(given));
    List<WorkerReport> found =
        prober.workers(application).stream()
            .filter(report -> cursor == null || report.key().compareTo(cursor) > 0)
            .limit(max + 1L)
            .toList();
    return new Page<>(
        found.stream().limit(max).toList(), found.size() > max ? found.get(max - 1).key() : null);
  }

  /** Calls an instance now, with nothing to run. */
  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping("/api/v1/workers:probe")
  WorkerReport probe(@Body Probe probe) {
    return prober.probe(probe.application(), probe.instance());
  }

  record Probe(String application, String instance) {

    Probe {
      application = JobFields.application(application);
      instance = JobFields.required("instance", instance);
    }
  }
}
