package io.punctual.server.dispatch;

import io.punctual.core.queue.QueueName;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.LongSupplier;

/** The circuits of all queues that were sent something. */
final class Circuits {

  private final CircuitOptions options;
  private final LongSupplier nanoTime;
  private final Map<QueueName, Circuit> circuits = new ConcurrentHashMap<>();
  private final Map<String, FailureRow> failures = new ConcurrentHashMap<>();
  private final Function<QueueName, Set<String>> serving;

  /**
   * @param serving the ids of the instances that the jobs of a queue go to now
   */
  Circuits(
      CircuitOptions options, Function<QueueName, Set<String>> serving, LongSupplier nanoTime) {
    this.options = options;
    this.serving = serving;
    this.nanoTime = nanoTime;
  }

  /**
   * A job of the queue is on its way.
   *
   * @param waited ms for which it could have gone out
   */
  Circuit.Ticket started(QueueName queue, long waited) {
    return circuits.computeIfAbsent(queue, this::create).started(waited);
  }

  private Circuit create(QueueName queue) {
    return new Circuit(
        queue,
        options,
        failures.computeIfAbsent(queue.application(), name -> new FailureRow()),
        () -> serving.apply(queue),
        nanoTime);
  }

  /** How many of so many jobs the queue may get now. */
  int free(QueueName queue, int wanted) {
    Circuit circuit = circuits.get(queue);
    return Math.min(wanted, circuit == null ? Circuit.FIRST : circuit.free());
  }

  boolean isOpen(QueueName queue) {
    Circuit circuit = circuits.get(queue);
    return circuit != null && circuit.isOpen();
  }

  List<QueueName> open() {
    return circuits.entrySet().stream()
        .filter(entry -> entry.getValue().isOpen())
        .map(Map.Entry::getKey)
        .sorted()
        .toList();
  }
}
