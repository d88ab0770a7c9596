package io.punctual.transactions.outbox;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Down if the table cannot be read. A backlog alone is no illness of this instance, which must not
 * be taken out of service because a scheduler is away: it is in the details and the metrics.
 */
public final class OutboxHealthIndicator extends AbstractHealthIndicator {

  private final Outbox outbox;

  public OutboxHealthIndicator(Outbox outbox) {
    super("The table punctual_outbox cannot be read");
    this.outbox = outbox;
  }

  @Override
  protected void doHealthCheck(Health.Builder builder) {
    OutboxStatus status = outbox.status();
    builder
        .up()
        .withDetail("waiting", status.waiting())
        .withDetail("age", status.age().toString())
        .withDetail("refused", status.refused());
  }
}
