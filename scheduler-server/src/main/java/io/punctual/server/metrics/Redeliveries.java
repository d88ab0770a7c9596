package io.punctual.server.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.punctual.core.engine.RepeatCause;
import io.punctual.core.engine.RepeatListener;
import io.punctual.core.queue.QueueName;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Component;

/** {@code punctual.jobs.redeliveries}: jobs that go out again, by queue and cause. */
@Component
final class Redeliveries implements RepeatListener {

  // Names come from users: what grows with them must have an end.
  private static final int MAX_QUEUES = 1_000;
  private static final QueueName OTHERS = new QueueName("other", "other");

  private record Key(QueueName queue, RepeatCause cause) {}

  private final MeterRegistry registry;
  private final Map<QueueName, QueueName> named = new ConcurrentHashMap<>();
  private final Map<Key, Counter> counters = new ConcurrentHashMap<>();

  Redeliveries(MeterRegistry registry) {
    this.registry = registry;
  }

  @Override
  public void repeated(QueueName queue, RepeatCause cause, int jobs) {
    counters.computeIfAbsent(new Key(named(queue), cause), this::counter).increment(jobs);
  }

  private QueueName named(QueueName queue) {
    QueueName known = named.get(queue);
    if (known != null) {
      return known;
    }
    return named.size() < MAX_QUEUES ? named.computeIfAbsent(queue, q -> q) : OTHERS;
  }

  private Counter counter(Key key) {
    return Counter.builder("punctual.jobs.redeliveries")
        .description("Jobs that go out again, by the cause of it")
        .tag("application", key.queue().application())
        .tag("task.type", key.queue().taskType())
        .tag("cause", key.cause().name().toLowerCase(Locale.ROOT))
        .register(registry);
  }
}
