package io.punctual.server.health;

import io.punctual.core.Engine;
import io.punctual.core.ScannerHealth;
import io.punctual.core.job.QueueName;
import java.util.List;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.stereotype.Component;

/**
 * {@code scanners} in the health, and part of liveness: DOWN where one has ended although nobody
 * stopped it. Only a restart fixes that. WARNING where a queue's keys in Redis are damaged, so that
 * its scanner can do nothing: an operator fixes that, not a restart.
 */
@Component("scannersHealthIndicator")
class ScannersHealthIndicator implements HealthIndicator {

  private final Engine engine;

  ScannersHealthIndicator(Engine engine) {
    this.engine = engine;
  }

  @Override
  public Health health() {
    ScannerHealth scanners = engine.scanners();
    List<Finding> findings = HealthChecks.scanners(scanners);
    Health.Builder health =
        findings.isEmpty() && !scanners.damaged().isEmpty()
            ? Health.status(HealthStatus.WARNING)
            : HealthStatus.of(findings);
    health.withDetail("running", scanners.running());
    if (!scanners.ended().isEmpty()) {
      health.withDetail("ended", scanners.ended());
    }
    if (!scanners.damaged().isEmpty()) {
      health.withDetail(
          "damaged", scanners.damaged().keySet().stream().map(QueueName::toString).toList());
    }
    if (!scanners.defects().isEmpty()) {
      health.withDetail("defects", scanners.defects());
    }
    return health.build();
  }
}
