package io.punctual.server.health;

import io.punctual.core.Engine;
import io.punctual.core.StoreHealth;
import io.punctual.core.store.durability.StoreNode;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.stereotype.Component;

/**
 * {@code store} in the health: DOWN where jobs were lost or may be lost at any moment, WARNING
 * where a crash would lose some.
 */
@Component("storeHealthIndicator")
class StoreHealthIndicator implements HealthIndicator {

  private final Engine engine;

  StoreHealthIndicator(Engine engine) {
    this.engine = engine;
  }

  @Override
  public Health health() {
    StoreHealth store = engine.storeHealth();
    Health.Builder health = HealthStatus.of(HealthChecks.store(store, "Redis"));
    health.withDetail("durability", store.durability());
    if (store.error() != null) {
      health.withDetail("error", store.error());
    }
    if (!store.findings().isEmpty()) {
      health.withDetail(
          "findings", store.findings().stream().map(StoreNode.Finding::text).toList());
    }
    if (!store.obstacles().isEmpty()) {
      health.withDetail("obstacles", store.obstacles());
    }
    if (!store.losses().isEmpty()) {
      health.withDetail(
          "losses", store.losses().stream().map(loss -> loss.at() + " " + loss.text()).toList());
    }
    return health.build();
  }
}
