package io.punctual.server.health;

import io.punctual.server.probe.Status;
import java.util.Comparator;
import java.util.List;
import org.springframework.boot.health.contributor.Health;

/** Turns findings into the actuator's health. */
final class HealthStatus {

  /** Not as it should be; HTTP status 200 still. */
  static final org.springframework.boot.health.contributor.Status WARNING =
      new org.springframework.boot.health.contributor.Status("WARNING");

  private HealthStatus() {}

  /** Starts a health with the worst severity of the findings: UP, WARNING or DOWN. */
  static Health.Builder of(List<Finding> findings) {
    return switch (worst(findings)) {
      case OK -> Health.up();
      case WARNING -> Health.status(WARNING);
      case PROBLEM -> Health.down();
    };
  }

  /** The same for a part that must not take the scheduler out of service. */
  static Health.Builder warningAtMost(List<Finding> findings) {
    return worst(findings) == Status.OK ? Health.up() : Health.status(WARNING);
  }

  private static Status worst(List<Finding> findings) {
    return findings.stream()
        .map(Finding::severity)
        .max(Comparator.naturalOrder())
        .orElse(Status.OK);
  }
}
