package io.punctual.transactions.outbox;

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

/** What waits in the outbox, and for how long: the same on each instance. */
public final class OutboxMetrics implements MeterBinder {

  private static final Logger log = LoggerFactory.getLogger(OutboxMetrics.class);
  private static final Duration FRESH = Duration.ofSeconds(5);

  private final Outbox outbox;
  private @Nullable OutboxStatus known;
  private long asked;

  public OutboxMetrics(Outbox outbox) {
    this.outbox = outbox;
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
  }

  private double value(ToDoubleFunction<OutboxStatus> figure) {
    OutboxStatus status = status();
    return status == null ? Double.NaN : figure.applyAsDouble(status);
  }

  // One question for the three of them.
  private synchronized @Nullable OutboxStatus status() {
    long now = System.nanoTime();
    if (known == null || now - asked > FRESH.toNanos()) {
      try {
        known = outbox.status();
        asked = now;
      } catch (RuntimeException e) {
        log.debug("The outbox cannot be read", e);
        known = null;
      }
    }
    return known;
  }
}
