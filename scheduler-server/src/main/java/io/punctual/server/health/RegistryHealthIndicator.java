package io.punctual.server.health;

import io.punctual.server.registry.RegistryContact;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
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

  private final RegistryContact registry;

  RegistryHealthIndicator(RegistryContact registry) {
    this.registry = registry;
  }

  @Override
  public Health health() {
    Duration age = registry.age();
    Duration waited = registry.waited();
    return HealthStatus.warningAtMost(List.of(HealthChecks.view(registry.addresses(), age, waited)))
        .withDetail(
            "seconds since it was read", Objects.requireNonNullElse(age, waited).toSeconds())
        .build();
  }
}
