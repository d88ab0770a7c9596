package io.punctual.server.dispatch.circuit;

import io.punctual.core.job.QueueName;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.LongSupplier;

/** The circuits of all queues that were sent something. */
public final class Circuits {

  private static final Duration IDLE = Duration.ofMinutes(1);

  private final int failuresToOpen;
  private final Duration firstPause;
  private final LongSupplier nanoTime;
  private final Map<QueueName, Circuit> circuits = new ConcurrentHashMap<>();
  private final Map<String, FailureStreak> failures = new ConcurrentHashMap<>();
  private final Function<QueueName, Set<String>> serving;

  /**
   * @param failuresToOpen how many deliveries in a row must fail for a circuit to open; 0 for never
   * @param firstPause how long jobs wait before one probes, once it has opened
   * @param serving the ids of the instances that the jobs of a queue go to now
   */
  public Circuits(
      int failuresToOpen,
      Duration firstPause,
      Function<QueueName, Set<String>> serving,
      LongSupplier nanoTime) {
    this.failuresToOpen = failuresToOpen;
    this.firstPause = firstPause;
    this.serving = serving;
    this.nanoTime = nanoTime;
  }

  /**
   * A job of the queue is on its way.
   *
   * @param waited ms for which it could have gone out
   */
  public Circuit.Ticket started(QueueName queue, long waited) {
    return circuits.computeIfAbsent(queue, this::create).started(waited);
  }

  private Circuit create(QueueName queue) {
    return new Circuit(
        queue,
        failuresToOpen,
        firstPause,
        failures.computeIfAbsent(queue.application(), name -> new FailureStreak()),
        () -> serving.apply(queue),
        nanoTime);
  }

  /** How many of so many jobs the queue may get now. */
  public int free(QueueName queue, int wanted) {
    Circuit circuit = circuits.get(queue);
    return Math.min(wanted, circuit == null ? Circuit.FIRST : circuit.free());
  }

  public boolean isOpen(QueueName queue) {
    Circuit circuit = circuits.get(queue);
    return circuit != null && circuit.isOpen();
  }

  public List<QueueName> open() {
    return circuits.entrySet().stream()
        .filter(entry -> entry.getValue().isOpen())
        .map(Map.Entry::getKey)
        .sorted()
        .toList();
  }

  /**
   * Forgets what is not needed any more: circuits that know nothing, and those of applications that
   * left the registry, once they are idle.
   *
   * @param applications that are in the registry
   */
  public void tidy(Set<String> applications) {
    circuits
        .entrySet()
        .removeIf(
            entry ->
                entry.getValue().isIdle(IDLE)
                    && (entry.getValue().isClean()
                        || !applications.contains(entry.getKey().application())));
    failures
        .keySet()
        .removeIf(
            application ->
                !applications.contains(application)
                    && circuits.keySet().stream()
                        .noneMatch(queue -> queue.application().equals(application)));
  }

  /** How many queues have one. */
  public int size() {
    return circuits.size();
  }
}
