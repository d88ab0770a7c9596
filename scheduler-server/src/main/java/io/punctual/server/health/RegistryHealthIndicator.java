package io.punctual.server.health;

import io.punctual.server.registry.RegistryView;
import java.time.Duration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.stereotype.Component;

/**
 * {@code registry} in the health: WARNING while the registry does not answer. The workers that were
 * known get jobs all the same; new ones are not seen.
 */
@Component("registryHealthIndicator")
@ConditionalOnProperty(name = "eureka.client.enabled", matchIfMissing = true)
class RegistryHealthIndicator implements HealthIndicator {

  /** Several times what lies between two fetches. */
  private static final Duration OLD = Duration.ofSeconds(10);

  private final RegistryView view;

  RegistryHealthIndicator(RegistryView view) {
    this.view = view;
  }

  @Override
  public Health health() {
    Duration age = view.age();
    Health.Builder health =
        age.compareTo(OLD) < 0 ? Health.up() : Health.status(StoreHealthIndicator.WARNING);
    return health.withDetail("seconds since it was read", age.toSeconds()).build();
  }
}
