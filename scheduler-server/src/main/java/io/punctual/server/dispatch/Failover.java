package io.punctual.server.dispatch;

import io.github.resilience4j.retry.Retry;
import io.github.resilience4j.retry.RetryConfig;
import io.punctual.core.Delivery;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.LogFields;
import io.punctual.core.job.QueueName;
import io.punctual.server.dispatch.callback.CallbackProtocol;
import io.punctual.server.dispatch.callback.NotSentException;
import io.punctual.server.dispatch.callback.UntrustedAnswerException;
import io.punctual.server.registry.WorkerInstance;
import io.punctual.server.text.Printable;
import io.punctual.server.text.PrintableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls an instance with a group of jobs, and other instances if that one does not take them. Jobs
 * that none took go back undelivered, which costs them no attempt.
 */
final class Failover {

  /** Calls at most so many times for one group. */
  static final int MAX_CALLS = 4;

  private static final Logger log = LoggerFactory.getLogger(Failover.class);
  private static final Duration UNTRUSTED = Duration.ofSeconds(30);

  private final InFlights inFlights;
  private final InstanceTracker tracker;
  private final InstancePicker picker;
  private final Map<String, CallbackProtocol> protocols;
  private final Function<QueueName, List<WorkerInstance>> instances;
  private final Consumer<QueueName> capacityChanged;
  // Counts calls before another one begins; a call's result says alone whether one may.
  private final Retry retry =
      Retry.of(
          "failover",
          RetryConfig.<Boolean>custom()
              .maxAttempts(MAX_CALLS)
              .intervalFunction(calls -> 0L)
              .retryOnResult(goesOn -> goesOn)
              .retryOnException(thrown -> false)
              .build());

  /**
   * @param protocols by the name that instances register
   * @param instances those that run the jobs of a queue now
   * @param capacityChanged told the queue when jobs went back
   */
  Failover(
      InFlights inFlights,
      InstancePicker picker,
      Map<String, CallbackProtocol> protocols,
      Function<QueueName, List<WorkerInstance>> instances,
      Consumer<QueueName> capacityChanged) {
    this.inFlights = inFlights;
    this.tracker = inFlights.tracker();
    this.picker = picker;
    this.protocols = protocols;
    this.instances = instances;
    this.capacityChanged = capacityChanged;
  }

  /**
   * Delivers jobs that were booked in at one instance. Blocks until each of them ended.
   *
   * @param first not empty; of one queue
   */
  void deliver(List<InFlight> first) {
    Group group = new Group(first);
    try {
      retry.executeSupplier(group::callOnce);
    } catch (Throwable e) {
      // Also an Error: else the jobs would count as being with the instance for good.
      log.error("Jobs of {} could not be delivered", group.queue, PrintableException.of(e));
      group.bookedIn.forEach(one -> one.badAnswer("the delivery failed unexpectedly"));
    } finally {
      group.giveBack();
    }
  }

  /** Jobs that travel together. Between two calls they are booked in nowhere. */
  private final class Group {

    private final QueueName queue;
    private final Set<String> tried = new HashSet<>();
    private List<InFlight> bookedIn;
    private List<Delivery> left = List.of();
    private @Nullable WorkerInstance next;
    private @Nullable WorkerInstance last;
    private String reason = "";

    Group(List<InFlight> first) {
      this.bookedIn = first;
      this.queue = first.get(0).delivery().queue();
    }

    /** Calls one instance; answers whether jobs are left and another instance may take them. */
    boolean callOnce() {
      if (next != null) {
        WorkerInstance instance = next;
        bookedIn = open(left, instance);
        left = List.of();
        next = null;
      }
      List<InFlight> held = held(bookedIn);
      if (held.isEmpty()) {
        return false;
      }
      WorkerInstance instance = held.get(0).instance();
      NotSentException refusal = call(queue, instance, held);
      if (refusal == null) {
        return false;
      }
      tried.add(instance.id());
      last = instance;
      reason = refusal.reason();
      left = withdraw(held);
      next = left.isEmpty() ? null : next(queue, instance, refusal, tried, left);
      return next != null;
    }

    /** Gives back, undelivered, what no instance took. */
    void giveBack() {
      if (left.isEmpty() || last == null) {
        return;
      }
      ErrorNote note = last.error(reason);
      left.forEach(
          delivery -> {
            // At once: the instance is avoided for a while, and the job shall not wait for a
            // back-off of its own when another one appears.
            var unused = delivery.undeliverable(note, Duration.ZERO);
          });
      capacityChanged.accept(queue);
    }
  }

  /** Books all of them in at an instance, or none. */
  private List<InFlight> open(List<Delivery> deliveries, WorkerInstance instance) {
    List<InFlight> opened = new ArrayList<>(deliveries.size());
    try {
      deliveries.forEach(delivery -> opened.add(inFlights.open(delivery, instance)));
      return opened;
    } catch (Throwable e) {
      opened.forEach(InFlight::withdraw);
      throw e;
    }
  }

  /** Those whose lease is still held; the others are given back. */
  private static List<InFlight> held(List<InFlight> group) {
    List<InFlight> held = new ArrayList<>(group.size());
    for (InFlight one : group) {
      if (one.delivery().leaseHeld()) {
        held.add(one);
      } else if (one.withdraw()) {
        // Refused by the store where the lease is another's by now; else the job waits again.
        var unused = one.delivery().release();
      }
    }
    return held;
  }

  /** Takes back those whose time is not over meanwhile. */
  private static List<Delivery> withdraw(List<InFlight> group) {
    return group.stream().filter(InFlight::withdraw).map(InFlight::delivery).toList();
  }

  /** Calls the instance; null when every job of the group was ended. */
  private @Nullable NotSentException call(
      QueueName queue, WorkerInstance instance, List<InFlight> group) {
    CallbackProtocol protocol =
        Objects.requireNonNull(protocols.get(instance.metadata().protocol()));
    try {
      group.forEach(one -> one.sending(group.size() == 1));
      protocol.call(
          instance,
          group,
          () -> {
            tracker.reached(instance);
            capacityChanged.accept(queue);
          });
      // None is left open by a protocol that keeps its word.
      group.forEach(one -> one.badAnswer("the callback ended without a result"));
      return null;
    } catch (NotSentException e) {
      notSent(queue, instance, e);
      return e;
    } catch (UntrustedAnswerException e) {
      tracker.avoid(instance, UNTRUSTED, e.reason());
      // What it did with them cannot be believed.
      group.forEach(one -> inFlights.affinity().forget(one.delivery().incarnation()));
      LogFields.of(log.atWarn(), queue)
          .addKeyValue("punctual.instance", instance.id())
          .log(
              "Instance {} is avoided for {}: {}",
              instance.id(),
              UNTRUSTED,
              Printable.of(e.reason()));
      return null;
    }
  }

  private void notSent(QueueName queue, WorkerInstance instance, NotSentException e) {
    String what;
    switch (e.scope()) {
      case LEASE -> {
        return;
      }
      case TASK_TYPE -> {
        tracker.retire(instance, queue.taskType(), e.avoid(), e.reason());
        what = "Instance {} gets no jobs of " + queue.taskType() + " for {}: {}";
      }
      default -> {
        tracker.avoid(instance, e.avoid(), e.reason());
        what = "Instance {} is avoided for {}: {}";
      }
    }
    LogFields.of(log.atInfo(), queue)
        .addKeyValue("punctual.instance", instance.id())
        .log(what, instance.id(), e.avoid(), Printable.of(e.reason()));
  }

  /** Picks the instance to call next; null when there is none. */
  private @Nullable WorkerInstance next(
      QueueName queue,
      WorkerInstance last,
      NotSentException refusal,
      Set<String> tried,
      List<Delivery> group) {
    if (refusal.scope() == NotSentException.Scope.LEASE) {
      // The others of the group still hold theirs.
      return last;
    }
    if (Suspects.isSuspect(group.get(0))) {
      // It was to be alone at the instance that refused it, and may not be at another one.
      return null;
    }
    List<WorkerInstance> left =
        tracker.candidates(instances.apply(queue)).stream()
            .filter(
                candidate ->
                    !tried.contains(candidate.id())
                        && candidate.metadata().protocol().equals(last.metadata().protocol())
                        && tracker.free(candidate, queue.taskType()) > 0)
            .toList();
    if (left.isEmpty()) {
      return null;
    }
    // Only a job that is alone was tried before.
    InstanceAffinity.Wish wish =
        group.size() == 1
            ? inFlights.affinity().wish(group.get(0).incarnation())
            : InstanceAffinity.Wish.NONE;
    return picker.pick(left, queue.taskType(), wish);
  }
}
