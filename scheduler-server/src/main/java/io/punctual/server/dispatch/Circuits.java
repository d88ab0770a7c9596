package io.punctual.server.dispatch;

import io.punctual.core.queue.QueueName;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/** The circuits of all queues that were sent something. */
final class Circuits {

  private final CircuitOptions options;
  private final LongSupplier nanoTime;
  private final Map<QueueName, Circuit> circuits = new ConcurrentHashMap<>();
  private final Map<String, AtomicInteger> failures = new ConcurrentHashMap<>();

  Circuits(CircuitOptions options, LongSupplier nanoTime) {
    this.options = options;
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
        failures.computeIfAbsent(queue.application(), name -> new AtomicInteger()),
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
