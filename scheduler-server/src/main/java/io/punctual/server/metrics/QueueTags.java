package io.punctual.server.metrics;

import io.micrometer.core.instrument.Tags;
import io.punctual.core.job.QueueName;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Component;

/** Chooses the queues that have separate series: the first ones with an event, up to a limit. */
@Component
public final class QueueTags {

  /** All others. */
  public static final QueueName OTHER = new QueueName("other", "other");

  // Names come from users: what grows with them must have an end.
  private final int max;
  private final Map<QueueName, QueueName> named = new ConcurrentHashMap<>();

  QueueTags(MetricsProperties properties) {
    this.max = properties.queues();
  }

  /** The queue, or {@link #OTHER}. */
  QueueName of(QueueName queue) {
    QueueName known = named.get(queue);
    if (known != null) {
      return known;
    }
    return named.size() < max ? named.computeIfAbsent(queue, name -> name) : OTHER;
  }

  /** The tags of a queue's figures. */
  public static Tags tags(QueueName queue) {
    return Tags.of("application", queue.application(), "task.type", queue.taskType());
  }
}
