package io.punctual.server.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.punctual.core.EngineListener;
import io.punctual.core.QueueListener;
import io.punctual.core.WakeCause;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.QueueName;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Counts what the engine does. */
@Component
@ConditionalOnPunctualMetrics
final class EngineMetrics implements EngineListener {

  private final MeterRegistry registry;
  private final QueueTags tags;
  private final RecentErrors errors;
  private final Map<QueueName, QueueMeters> meters = new ConcurrentHashMap<>();
  private final Map<WakeCause, Counter> wakeUps = new EnumMap<>(WakeCause.class);

  EngineMetrics(MeterRegistry registry, QueueTags tags, RecentErrors errors) {
    this.registry = registry;
    this.tags = tags;
    this.errors = errors;
    for (WakeCause cause : WakeCause.values()) {
      wakeUps.put(
          cause,
          Counter.builder("punctual.scanner.wakeups")
              .description("How often scanners have looked at their buckets, and why")
              .tag("cause", cause.name().toLowerCase(Locale.ROOT))
              .register(registry));
    }
  }

  @Override
  public QueueListener of(QueueName queue) {
    return new OnFirstEvent(queue);
  }

  @Override
  public void woken(WakeCause cause) {
    Objects.requireNonNull(wakeUps.get(cause)).increment();
  }

  private QueueMeters meters(QueueName queue) {
    return meters.computeIfAbsent(tags.of(queue), name -> new QueueMeters(registry, name));
  }

  /** Queues in which nothing happens take no place from others. */
  private final class OnFirstEvent implements QueueListener {

    private final QueueName queue;
    private volatile @Nullable QueueMeters found;

    OnFirstEvent(QueueName queue) {
      this.queue = queue;
    }

    private QueueMeters meters() {
      QueueMeters known = found;
      if (known == null) {
        known = EngineMetrics.this.meters(queue);
        found = known;
      }
      return known;
    }

    @Override
    public void failed(ErrorNote note) {
      errors.add(queue, note);
    }

    @Override
    public void pass(Consumer<QueueListener> event) {
      event.accept(meters());
    }
  }
}
