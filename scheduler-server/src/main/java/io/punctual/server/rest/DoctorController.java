package io.punctual.server.rest;

import io.punctual.Limits;
import io.punctual.server.health.Finding;
import io.punctual.server.health.HealthChecks;
import io.punctual.server.probe.Status;
import io.punctual.server.problem.ApiException;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Ownership;
import io.punctual.server.security.Role;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Everything that was looked at, in one list, with cures. */
@RestController
class DoctorController {

  private final HealthChecks health;

  DoctorController(HealthChecks health) {
    this.health = health;
  }

  /** All checks, or those of one application; an application is told of itself only. */
  @Allowed(value = Role.VIEWER, applications = true)
  @GetMapping("/api/v1/doctor")
  Map<String, Object> checks(
      @RequestParam(name = "application", required = false) @Nullable String given) {
    String application = Ownership.application(given);
    if (application != null && !Limits.isName(application)) {
      throw ApiException.invalid("application", Limits.NAME_RULE);
    }
    List<Finding> findings = health.all(application);
    Map<String, Object> out = new LinkedHashMap<>();
    out.put(
        "status",
        findings.stream()
            .map(Finding::severity)
            .max(Comparator.naturalOrder())
            .orElse(Status.OK)
            .word());
    out.put("checks", findings.stream().map(DoctorController::output).toList());
    return out;
  }

  private static Map<String, Object> output(Finding finding) {
    Map<String, Object> out = new LinkedHashMap<>();
    out.put("name", finding.code().word());
    out.put("application", finding.subject().application());
    out.put("status", finding.severity().word());
    out.put("seen", finding.text());
    out.put("cure", finding.remedy());
    return out;
  }
}
