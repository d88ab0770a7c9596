package io.punctual.spring.outbox;

import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Down if the table cannot be read. A backlog alone is no illness of this instance, which must not
 * be taken out of service because a scheduler is away: it is in the details and the metrics.
 */
public final class OutboxHealthIndicator extends AbstractHealthIndicator {

  private final Outbox outbox;
  private final boolean keepsSent;

  /**
   * @param keepsSent whether what was sent is kept, to be sent again
   */
  public OutboxHealthIndicator(Outbox outbox, boolean keepsSent) {
    super("The table punctual_outbox cannot be read");
    this.outbox = outbox;
    this.keepsSent = keepsSent;
  }

  @Override
  protected void doHealthCheck(Health.Builder builder) {
    OutboxStatus status = outbox.status();
    builder
        .up()
        .withDetail("waiting", status.waiting())
        .withDetail("age", status.age().toString())
        .withDetail("refused", status.refused());
    ResendStatus resend = keepsSent ? outbox.resendStatus() : null;
    if (resend != null) {
      builder.withDetail("resend", details(resend));
    }
  }

  private static Map<String, Object> details(ResendStatus resend) {
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("since", resend.since() == null ? "all" : resend.since().toString());
    details.put("begunAt", resend.begunAt().toString());
    details.put("endedAt", resend.endedAt() == null ? "goes on" : resend.endedAt().toString());
    details.put("missing", resend.missing());
    details.put("present", resend.present());
    details.put("refused", resend.refused());
    return details;
  }
}
