package io.punctual.server.health;

import io.punctual.core.job.QueueName;
import io.punctual.server.dispatch.HttpDispatcher;
import java.util.List;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.stereotype.Component;

/**
 * {@code circuits} in the health: WARNING while jobs of some queues wait because all of them
 * failed.
 */
@Component("circuitsHealthIndicator")
class CircuitsHealthIndicator implements HealthIndicator {

  private final HttpDispatcher dispatcher;

  CircuitsHealthIndicator(HttpDispatcher dispatcher) {
    this.dispatcher = dispatcher;
  }

  @Override
  public Health health() {
    List<QueueName> open = dispatcher.openCircuits();
    // Never DOWN: no restart helps jobs that fail.
    Health.Builder health =
        HealthStatus.warningAtMost(open.stream().map(QueueHealth::circuit).toList());
    return open.isEmpty()
        ? health.build()
        : health.withDetail("open", open.stream().map(QueueName::toString).toList()).build();
  }
}
