package io.punctual.server.rest;

import io.punctual.server.health.Finding;
import io.punctual.server.health.HealthChecks;
import io.punctual.server.input.JobFields;
import io.punctual.server.probe.Status;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Ownership;
import io.punctual.server.security.Role;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Everything that was looked at, in one list, with remedies. */
@RestController
class DoctorController {

  private final HealthChecks health;

  DoctorController(HealthChecks health) {
    this.health = health;
  }

  /** All checks, or those of one application; an application is told of itself only. */
  @Allowed(value = Role.VIEWER, applications = true)
  @GetMapping("/api/v1/doctor")
  Report checks(@RequestParam(name = "application", required = false) @Nullable String given) {
    List<Finding> findings =
        health.all(JobFields.name("application", Ownership.application(given)));
    return new Report(
        findings.stream()
            .map(Finding::severity)
            .max(Comparator.naturalOrder())
            .orElse(Status.OK)
            .word(),
        findings.stream().map(Check::of).toList());
  }

  record Report(String status, List<Check> checks) {}

  /** A finding, with its remedy; null where nothing is to be done. */
  record Check(
      String name,
      @Nullable String application,
      String status,
      String message,
      @Nullable String remedy) {

    static Check of(Finding finding) {
      return new Check(
          finding.code().word(),
          finding.subject().application(),
          finding.severity().word(),
          finding.text(),
          finding.remedy());
    }
  }
}
