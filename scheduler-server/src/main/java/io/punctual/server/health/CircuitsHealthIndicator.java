package io.punctual.server.health;

import io.punctual.core.job.QueueName;
import io.punctual.server.config.WorkersSeen;
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

  private final WorkersSeen workers;

  CircuitsHealthIndicator(WorkersSeen workers) {
    this.workers = workers;
  }

  @Override
  public Health health() {
    List<String> open = workers.openCircuits().stream().map(QueueName::toString).toList();
    return open.isEmpty()
        ? Health.up().build()
        : Health.status(StoreHealthIndicator.WARNING).withDetail("open", open).build();
  }
}
