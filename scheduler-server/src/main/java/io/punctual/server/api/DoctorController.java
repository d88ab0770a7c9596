package io.punctual.server.api;

import io.punctual.Limits;
import io.punctual.server.doctor.Check;
import io.punctual.server.doctor.Checkup;
import io.punctual.server.doctor.Status;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Role;
import io.punctual.server.web.ApiException;
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

  private final Checkup checkup;

  DoctorController(Checkup checkup) {
    this.checkup = checkup;
  }

  /** All checks, or those of one application; an application is told of itself only. */
  @Allowed(value = Role.VIEWER, applications = true)
  @GetMapping("/api/v1/doctor")
  Map<String, Object> checks(
      @RequestParam(name = "application", required = false) @Nullable String given) {
    String application = AccessRules.application(given);
    if (application != null && !Limits.isName(application)) {
      throw ApiException.invalid("application", Limits.NAME_RULE);
    }
    List<Check> checks = checkup.run(application);
    Map<String, Object> out = new LinkedHashMap<>();
    out.put(
        "status",
        checks.stream().map(Check::status).max(Comparator.naturalOrder()).orElse(Status.OK).word());
    out.put("checks", checks.stream().map(DoctorController::output).toList());
    return out;
  }

  private static Map<String, Object> output(Check check) {
    Map<String, Object> out = new LinkedHashMap<>();
    out.put("name", check.name().word());
    out.put("application", check.application());
    out.put("status", check.status().word());
    out.put("seen", check.seen());
    out.put("cure", check.cure());
    return out;
  }
}
