package io.punctual.server.health;

import io.punctual.core.engine.Engine;
import io.punctual.core.engine.ScannerHealth;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.stereotype.Component;

/**
 * {@code scanners} in the health, and part of liveness: DOWN where one has ended although nobody
 * stopped it. A start mends that, and nothing else does.
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
    Health.Builder health = scanners.ended().isEmpty() ? Health.up() : Health.down();
    health.withDetail("running", scanners.running());
    if (!scanners.ended().isEmpty()) {
      health.withDetail("ended", scanners.ended());
    }
    return health.build();
  }
}
