package io.punctual.spring.plugin;

import io.punctual.core.Engine;
import io.punctual.core.ScannerHealth;
import io.punctual.core.StoreHealth;
import io.punctual.core.store.durability.StoreNode;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

/**
 * {@code punctual} in the health of plugin mode: DOWN where a scanner has ended although nobody
 * stopped it, which a restart fixes; WARNING where jobs were lost, or Redis may lose some, or does
 * not answer. Spring Boot's own {@code redis} says the latter as well, and DOWN.
 */
final class PunctualHealthIndicator extends AbstractHealthIndicator {

  /** Not as it should be; HTTP status 200, and no part of the status of all. */
  static final Status WARNING = new Status("WARNING");

  private final Engine engine;

  PunctualHealthIndicator(Engine engine) {
    super("The engine does not say how it is");
    this.engine = engine;
  }

  @Override
  protected void doHealthCheck(Health.Builder builder) {
    ScannerHealth scanners = engine.scanners();
    StoreHealth store = engine.storeHealth();
    List<String> findings =
        new ArrayList<>(store.findings().stream().map(StoreNode.Finding::text).toList());
    findings.addAll(store.obstacles());
    scanners.defects().forEach((duty, defect) -> findings.add(duty + ": " + defect));
    store.losses().forEach(loss -> findings.add(loss.at() + " " + loss.text()));
    if (!scanners.ended().isEmpty()) {
      builder.down().withDetail("ended", scanners.ended());
    } else {
      builder.status(store.error() == null && findings.isEmpty() ? Status.UP : WARNING);
    }
    builder.withDetail("scanners", scanners.running());
    if (store.error() != null) {
      builder.withDetail("error", store.error());
    }
    if (!findings.isEmpty()) {
      builder.withDetail("findings", findings);
    }
  }
}
