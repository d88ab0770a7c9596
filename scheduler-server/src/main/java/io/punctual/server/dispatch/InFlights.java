package io.punctual.server.dispatch;

import io.punctual.core.Delivery;
import io.punctual.core.job.LogFields;
import io.punctual.core.job.QueueName;
import io.punctual.server.dispatch.callback.Deadlines;
import io.punctual.server.dispatch.circuit.Circuits;
import io.punctual.server.registry.WorkerInstance;
import java.time.Duration;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens deliveries at instances, and holds what their ends are told to. */
final class InFlights {

  private static final Logger log = LoggerFactory.getLogger(InFlights.class);

  private final InstanceTracker tracker;
  private final Circuits circuits;
  private final InstanceAffinity affinity;
  private final SharedInstances shared;
  private final Function<QueueName, List<WorkerInstance>> instances;
  private final Consumer<QueueName> capacityChanged;
  private final BiConsumer<Delivery, WorkerInstance> stop;
  private final AttemptListener attempts;
  private final LongSupplier nanoTime;

  /**
   * @param instances those that run the jobs of a queue now
   * @param capacityChanged told the queue of each job that left an instance
   * @param stop tells an instance that an attempt is to stop; returns at once
   * @param attempts is told of those that ended
   */
  InFlights(
      InstanceTracker tracker,
      Circuits circuits,
      InstanceAffinity affinity,
      SharedInstances shared,
      Function<QueueName, List<WorkerInstance>> instances,
      Consumer<QueueName> capacityChanged,
      BiConsumer<Delivery, WorkerInstance> stop,
      AttemptListener attempts,
      LongSupplier nanoTime) {
    this.tracker = tracker;
    this.circuits = circuits;
    this.affinity = affinity;
    this.shared = shared;
    this.instances = instances;
    this.capacityChanged = capacityChanged;
    this.stop = stop;
    this.attempts = attempts;
    this.nanoTime = nanoTime;
  }

  /** Books a delivery in at an instance. */
  InFlight open(Delivery delivery, WorkerInstance instance) {
    InstanceTracker.Slot slot = tracker.open(instance, Suspects.isSuspect(delivery));
    try {
      InFlight opened =
          new InFlight(
              this,
              delivery,
              instance,
              slot,
              circuits.started(delivery.queue(), delivery.waited()));
      delivery.onCancelling(opened::stop);
      return opened;
    } catch (Throwable e) {
      slot.close();
      throw e;
    }
  }

  InstanceTracker tracker() {
    return tracker;
  }

  InstanceAffinity affinity() {
    return affinity;
  }

  SharedInstances shared() {
    return shared;
  }

  AttemptListener attempts() {
    return attempts;
  }

  long now() {
    return nanoTime.getAsLong();
  }

  void stop(InFlight open) {
    stop.accept(open.delivery(), open.instance());
  }

  void left(InFlight ended) {
    capacityChanged.accept(ended.delivery().queue());
  }

  void timeOver(InFlight ended) {
    WorkerInstance instance = ended.instance();
    QueueName queue = ended.delivery().queue();
    String reason = Deadlines.timeOver(ended.delivery().content());
    Duration pause = tracker.timeOver(instance, ended.sentAt(), reason);
    if (pause != null && !tracker.candidates(instances.apply(queue)).contains(instance)) {
      LogFields.of(log.atWarn(), queue)
          .addKeyValue("punctual.instance", instance.id())
          .log(
              "Instance {} takes jobs and answers none of them; others get them for {}: {}",
              instance.id(),
              pause,
              reason);
    }
  }
}
