package io.punctual.server.health;

import io.punctual.server.registry.RegistryContact;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.stereotype.Component;

/**
 * {@code registry} in the health: WARNING while a registry does not answer. The workers that were
 * known get jobs all the same; new ones are not seen.
 */
@Component("registryHealthIndicator")
class RegistryHealthIndicator implements HealthIndicator {

  private final RegistryContact registry;

  RegistryHealthIndicator(RegistryContact registry) {
    this.registry = registry;
  }

  @Override
  public Health health() {
    List<RegistryContact.View> views = registry.views();
    Duration oldest =
        views.stream()
            .map(RegistryContact.View::silence)
            .max(Comparator.naturalOrder())
            .orElse(Duration.ZERO);
    return HealthStatus.warningAtMost(views.stream().map(HealthChecks::view).toList())
        .withDetail("seconds since it was read", oldest.toSeconds())
        .build();
  }
}
