package io.punctual.spring.outbox;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The number and age of the calls that wait in the outbox: the same on each instance. */
public final class OutboxMetrics implements MeterBinder {

  private static final Logger log = LoggerFactory.getLogger(OutboxMetrics.class);
  private static final Duration FRESH = Duration.ofSeconds(5);

  private final Outbox outbox;
  private final boolean keepsSent;
  private @Nullable OutboxStatus known;
  private volatile @Nullable ResendStatus resend;
  private long asked;

  /**
   * @param keepsSent whether what was sent is kept, to be sent again
   */
  public OutboxMetrics(Outbox outbox, boolean keepsSent) {
    this.outbox = outbox;
    this.keepsSent = keepsSent;
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    Gauge.builder("punctual.client.outbox.waiting", () -> value(OutboxStatus::waiting))
        .description("Calls in the outbox that are to be made")
        .register(registry);
    TimeGauge.builder(
            "punctual.client.outbox.age",
            () -> value(status -> status.age().toMillis()),
            TimeUnit.MILLISECONDS)
        .description("How long the oldest of them has been there")
        .register(registry);
    Gauge.builder("punctual.client.outbox.refused", () -> value(OutboxStatus::refused))
        .description("Calls in the outbox that can never be made")
        .register(registry);
    if (keepsSent) {
      bindResend(registry);
    }
  }

  /** Adds what was sent again after the last loss of the store. */
  private void bindResend(MeterRegistry registry) {
    Gauge.builder(
            "punctual.client.outbox.resend.running",
            () -> resent(status -> status.endedAt() == null ? 1 : 0))
        .description("Whether jobs that the store may have lost are being sent again")
        .register(registry);
    resent(registry, "missing", ResendStatus::missing);
    resent(registry, "present", ResendStatus::present);
    resent(registry, "refused", ResendStatus::refused);
  }

  private void resent(
      MeterRegistry registry, String outcome, ToDoubleFunction<ResendStatus> figure) {
    Gauge.builder("punctual.client.outbox.resend.jobs", () -> resent(figure))
        .description("Jobs that were sent again after the last loss of the store")
        .tag("outcome", outcome)
        .register(registry);
  }

  private double resent(ToDoubleFunction<ResendStatus> figure) {
    var unused = status();
    ResendStatus last = resend;
    return last == null ? 0 : figure.applyAsDouble(last);
  }

  private double value(ToDoubleFunction<OutboxStatus> figure) {
    OutboxStatus status = status();
    return status == null ? Double.NaN : figure.applyAsDouble(status);
  }

  // Asked once for all of them.
  private synchronized @Nullable OutboxStatus status() {
    long now = System.nanoTime();
    if (known == null || now - asked > FRESH.toNanos()) {
      try {
        known = outbox.status();
        resend = keepsSent ? outbox.resendStatus() : null;
        asked = now;
      } catch (RuntimeException e) {
        log.debug("The outbox cannot be read", e);
        known = null;
      }
    }
    return known;
  }
}
