package io.punctual.server.dispatch;

import io.punctual.core.Delivery;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.LogFields;
import io.punctual.core.job.QueueName;
import io.punctual.server.registry.WorkerInstance;
import io.punctual.server.text.PrintableException;
import io.punctual.wire.WorkerMetadata;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Chooses instances for claimed jobs, and sends the jobs there on its own threads. A job that
 * cannot be sent goes back alone: those that were claimed with it run.
 */
final class Sender {

  private static final Logger log = LoggerFactory.getLogger(Sender.class);

  private final InFlights inFlights;
  private final InstancePicker picker;
  private final Failover failover;
  private final Function<QueueName, List<WorkerInstance>> instances;
  private final Executor threads;
  private final Suspects suspects;

  /**
   * @param instances those that run the jobs of a queue now
   * @param released called with the application when an instance of it gets other jobs again
   */
  Sender(
      InFlights inFlights,
      InstancePicker picker,
      Failover failover,
      Function<QueueName, List<WorkerInstance>> instances,
      Consumer<String> released,
      Executor threads,
      LongSupplier nanoTime) {
    this.inFlights = inFlights;
    this.picker = picker;
    this.failover = failover;
    this.instances = instances;
    this.threads = threads;
    this.suspects = new Suspects(inFlights, instances, this::send, released, nanoTime);
  }

  Suspects suspects() {
    return suspects;
  }

  /** Takes over claimed jobs of one queue; returns at once. */
  void send(QueueName queue, List<Delivery> deliveries) {
    List<WorkerInstance> reached = instances.apply(queue);
    if (reached.isEmpty()) {
      deliveries.forEach(
          delivery -> {
            var unused = delivery.release();
          });
      return;
    }
    Map<WorkerInstance, List<InFlight>> groups = new LinkedHashMap<>();
    int unsent = 0;
    Throwable why = null;
    for (Delivery delivery : deliveries) {
      try {
        book(delivery, reached, groups);
      } catch (Throwable e) {
        // Also an Error: the caller would take all of them for not sent.
        giveBack(delivery, e);
        unsent++;
        why = e;
      }
    }
    if (why != null) {
      report(queue, unsent, why);
    }
    groups.values().forEach(this::send);
  }

  private void book(
      Delivery delivery, List<WorkerInstance> reached, Map<WorkerInstance, List<InFlight>> groups) {
    if (suspects.concerns(delivery)) {
      suspects.add(delivery);
      return;
    }
    // Anew for each: an instance that is probed gets one.
    WorkerInstance instance =
        picker.pick(
            inFlights.tracker().candidates(reached),
            delivery.queue().taskType(),
            inFlights.affinity().wish(delivery.incarnation()));
    boolean alone = delivery.travelsAlone() || !sharesCalls(instance);
    List<InFlight> group =
        alone ? new ArrayList<>(1) : groups.computeIfAbsent(instance, i -> new ArrayList<>());
    group.add(inFlights.open(delivery, instance));
    if (alone) {
      send(group);
    }
  }

  private static boolean sharesCalls(WorkerInstance instance) {
    return instance.metadata().protocol().equals(WorkerMetadata.BATCH);
  }

  private void send(List<InFlight> group) {
    // Empty if none could be booked in.
    if (!group.isEmpty()) {
      start(group, () -> failover.deliver(group));
    }
  }

  private void send(Suspects.Sent suspect) {
    InFlight one = suspect.inFlight();
    start(
        List.of(one),
        () -> {
          try {
            Runnable deliver = () -> failover.deliver(List.of(one));
            if (!suspect.alone()) {
              deliver.run();
            } else if (!inFlights.shared().alone(one.instance(), deliver)) {
              suspects.takenElsewhere(suspect);
            }
          } finally {
            suspects.look();
          }
        });
  }

  /** Runs a call on a thread of its own. Jobs that it did not begin go back. */
  private void start(List<InFlight> group, Runnable call) {
    try {
      threads.execute(
          () -> {
            try {
              call.run();
            } catch (Throwable e) {
              giveBack(group, e);
            }
          });
    } catch (Throwable e) {
      // Also an Error, as of a thread for which there is no memory.
      giveBack(group, e);
    }
  }

  private static void giveBack(List<InFlight> group, Throwable e) {
    int unsent = 0;
    for (InFlight one : group) {
      if (one.withdraw()) {
        giveBack(one.delivery(), e);
        unsent++;
      }
    }
    report(group.get(0).delivery().queue(), unsent, e);
  }

  private static void giveBack(Delivery delivery, Throwable e) {
    var unused =
        delivery.undeliverable(
            new ErrorNote("", "the scheduler could not send it: " + PrintableException.text(e)),
            null);
  }

  private static void report(QueueName queue, int unsent, Throwable e) {
    LogFields.of(log.atError(), queue)
        .setCause(PrintableException.of(e))
        .log("Sending jobs of {} failed; {} were not sent and are retried", queue, unsent);
  }
}
