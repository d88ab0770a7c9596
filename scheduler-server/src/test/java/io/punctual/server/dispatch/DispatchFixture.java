package io.punctual.server.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.QueueName;
import io.punctual.core.store.Settlement;
import io.punctual.server.dispatch.callback.CallbackProtocol;
import io.punctual.server.dispatch.circuit.Circuits;
import io.punctual.server.registry.WorkerInstance;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** The parts of a dispatcher around a protocol that a test plays, with a clock that it moves. */
final class DispatchFixture {

  static final Duration AVOID = Duration.ofSeconds(3);

  long now = 1;
  final List<WorkerInstance> instances = new CopyOnWriteArrayList<>();
  final List<QueueName> told = new ArrayList<>();
  final InstanceTracker tracker = new InstanceTracker(AVOID, Duration.ofMillis(1_500), () -> now);
  final InstanceAffinity affinity = new InstanceAffinity(100);
  final Circuits circuits =
      new Circuits(10, Duration.ofSeconds(5), queue -> tracker.serving(instances), () -> now);
  final FakeInstanceMarks marks = new FakeInstanceMarks(() -> TimeUnit.NANOSECONDS.toMillis(now));
  final SharedInstances shared = new SharedInstances(marks, time -> marks.othersNotice());
  final List<String> attempts = new ArrayList<>();
  final InFlights inFlights =
      new InFlights(
          tracker,
          circuits,
          affinity,
          shared,
          queue -> instances,
          told::add,
          (delivery, instance) -> {},
          new AttemptListener() {
            @Override
            public void ended(WorkerInstance instance, Settlement.Op how) {
              attempts.add(how + " at " + instance.id());
            }

            @Override
            public void gone(String application, String instance) {}
          },
          () -> now);

  DispatchFixture(int instances) {
    for (int i = 0; i < instances; i++) {
      this.instances.add(instance("worker-" + i, 10));
    }
  }

  static WorkerInstance instance(String id, int concurrency) {
    return new WorkerInstance(
        id,
        "shop",
        URI.create("http://" + id + "/callback"),
        new WorkerMetadata(Set.of("job"), "/callback", WorkerMetadata.BATCH, concurrency),
        "eureka");
  }

  /**
   * A fail-over.
   *
   * @param random picks among candidates: a number from 0 to below its argument
   */
  Failover failover(CallbackProtocol protocol, java.util.function.IntUnaryOperator random) {
    return new Failover(
        inFlights,
        new InstancePicker(tracker, random),
        Map.of(WorkerMetadata.BATCH, protocol),
        queue -> instances,
        told::add);
  }

  List<InFlight> open(int instance, FakeDelivery... deliveries) {
    return java.util.Arrays.stream(deliveries)
        .map(delivery -> inFlights.open(delivery, instances.get(instance)))
        .toList();
  }

  int free(int instance) {
    return tracker.free(instances.get(instance), "job");
  }

  /** Nothing is booked in anywhere, and nothing is left of instances that went. */
  void assertEmpty() {
    assertThat(tracker.inFlight()).as("in flight").isZero();
    now += Duration.ofMinutes(2).toNanos();
    instances.forEach(
        instance -> assertThat(tracker.free(instance, "job")).as("free").isPositive());
    tracker.tidy(application -> Set.of(), (application, instance) -> {});
    circuits.tidy(Set.of());
    assertThat(tracker.size()).as("instances").isZero();
    assertThat(tracker.hanging()).as("hanging").isZero();
    assertThat(circuits.size()).as("circuits").isZero();
  }
}
