package io.punctual.server.dispatch;

import io.punctual.core.Delivery;
import io.punctual.core.Dispatcher;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.instance.InstanceMarks;
import io.punctual.server.dispatch.callback.AnswerMemory;
import io.punctual.server.dispatch.callback.BatchProtocol;
import io.punctual.server.dispatch.callback.CallContext;
import io.punctual.server.dispatch.callback.CallbackKeys;
import io.punctual.server.dispatch.callback.CallbackProtocol;
import io.punctual.server.dispatch.callback.CallbackTargets;
import io.punctual.server.dispatch.callback.Deadlines;
import io.punctual.server.dispatch.callback.Ping;
import io.punctual.server.dispatch.callback.PingResult;
import io.punctual.server.dispatch.callback.SingleProtocol;
import io.punctual.server.dispatch.callback.WorkerHttpClient;
import io.punctual.server.dispatch.circuit.Circuits;
import io.punctual.server.registry.WorkerDirectory;
import io.punctual.server.registry.WorkerInstance;
import io.punctual.wire.WorkerMetadata;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.ssl.SslBundle;

/**
 * Sends claimed jobs to live instances of their application. Jobs that were claimed together and go
 * to the same instance share a call.
 */
public final class HttpDispatcher implements Dispatcher, AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(HttpDispatcher.class);

  // A request that is not refused so long after it was connected is being worked on.
  private static final Duration TAKEN = Duration.ofMillis(500);
  private static final int REMEMBERED_JOBS = 10_000;
  private static final Duration LOOK = Duration.ofMillis(100);

  private final WorkerDirectory workers;
  private final AttemptListener attempts;
  private final InstantSource clock;
  private final CallbackKeys keys;
  private final InstanceTracker tracker;
  private final Circuits circuits;
  private final Sender sender;
  private final Suspects suspects;
  private final KeyProofs proofs;
  private final WorkerHttpClient client;
  private final Deadlines deadlines = new Deadlines();
  private final AnswerMemory memory = AnswerMemory.ofHeap();
  private final Ping ping;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  // By application, which is what the registry knows: there may be thousands of queues.
  private final Map<String, Set<QueueName>> waiting = new ConcurrentHashMap<>();
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile Consumer<QueueName> capacityChanged = queue -> {};
  private volatile Consumer<WorkerInstance> unproven = instance -> {};

  /**
   * @param name of this scheduler, which callbacks carry
   * @param failures how many deliveries in a row must fail for a circuit to open; 0 for never
   * @param tls which workers are trusted on https, and how the scheduler shows itself; null for the
   *     JVM's defaults
   * @param marks what schedulers tell each other about instances
   * @param attempts is told of those that ended
   */
  HttpDispatcher(
      String name,
      WorkerDirectory workers,
      DispatchTimes times,
      int failures,
      CallbackKeys keys,
      CallbackTargets targets,
      @Nullable SslBundle tls,
      InstanceMarks marks,
      AttemptListener attempts,
      InstantSource clock) {
    this.workers = workers;
    this.attempts = attempts;
    this.clock = clock;
    this.keys = keys;
    this.tracker =
        new InstanceTracker(times.avoid(), times.connect().plus(TAKEN), System::nanoTime);
    this.circuits =
        new Circuits(
            failures, times.pause(), queue -> tracker.serving(instances(queue)), System::nanoTime);
    InstancePicker picker =
        new InstancePicker(tracker, bound -> ThreadLocalRandom.current().nextInt(bound));
    InFlights inFlights =
        new InFlights(
            tracker,
            circuits,
            new InstanceAffinity(REMEMBERED_JOBS),
            new SharedInstances(marks, this::pause),
            this::instances,
            this::capacityChanged,
            this::stop,
            attempts,
            System::nanoTime);
    this.client = new WorkerHttpClient(times.connect(), targets, tls);
    CallContext context =
        new CallContext(name, client, deadlines, keys, clock, times.avoid(), memory);
    this.ping = new Ping(context);
    Map<String, CallbackProtocol> protocols =
        Map.of(
            WorkerMetadata.BATCH,
            new BatchProtocol(context),
            WorkerMetadata.SINGLE,
            new SingleProtocol(context));
    Failover failover =
        new Failover(inFlights, picker, protocols, this::instances, this::capacityChanged);
    this.sender =
        new Sender(
            inFlights, picker, failover, this::instances, this::recheck, threads, System::nanoTime);
    this.suspects = sender.suspects();
    this.proofs = new KeyProofs(keys);
    deadlines.every(LOOK, suspects::look);
  }

  /** Tells an instance that an attempt is to stop: a hint, which is repeated if need be. */
  private void stop(Delivery delivery, WorkerInstance instance) {
    try {
      threads.execute(() -> ping.cancel(instance, delivery));
    } catch (RejectedExecutionException e) {
      log.trace("The dispatcher is closed: no instance is told to stop", e);
    }
  }

  /** Sets what is told when a queue may get jobs that could not before. */
  public void onCapacity(Consumer<QueueName> listener) {
    capacityChanged = listener;
  }

  /**
   * Sets the listener for instances that get no jobs before they have shown their application's
   * key. It is called repeatedly for each of them, and must have it {@link #ping pinged} soon.
   */
  public void onUnproven(Consumer<WorkerInstance> listener) {
    unproven = listener;
  }

  private void capacityChanged(QueueName queue) {
    capacityChanged.accept(queue);
  }

  @Override
  public boolean runsElsewhere() {
    return true;
  }

  @Override
  public int capacity(QueueName queue) {
    int capacity = free(queue, instances(queue));
    if (capacity == 0) {
      waiting.compute(
          queue.application(),
          (application, queues) -> {
            Set<QueueName> some = queues == null ? ConcurrentHashMap.newKeySet() : queues;
            some.add(queue);
            return some;
          });
    }
    return capacity;
  }

  private int free(QueueName queue, List<WorkerInstance> instances) {
    return circuits.free(queue, tracker.free(instances, queue.taskType()));
  }

  @Override
  public boolean hasCapacity(QueueName queue) {
    List<WorkerInstance> instances = workers.instances(queue.application(), queue.taskType());
    return free(queue, proofs.proven(instances)) > 0;
  }

  /**
   * Looks again at the queues that had no capacity, and forgets instances that left the registry.
   * To be called often: it reads memory, and names instances without proof.
   */
  public void registryChanged() {
    waiting.forEach(
        (application, queues) -> {
          if (workers.instances(application).stream().anyMatch(tracker::isFree)) {
            recheck(queues);
          }
          waiting.computeIfPresent(application, (name, left) -> left.isEmpty() ? null : left);
        });
    workers.applications().forEach(application -> proven(workers.instances(application)));
    suspects.tidy();
    tracker.tidy(this::registered, attempts::gone);
    Set<String> applications =
        workers.applications().stream()
            .filter(application -> !workers.instances(application).isEmpty())
            .collect(Collectors.toSet());
    circuits.tidy(applications);
    keys.retain(applications);
  }

  private void recheck(String application) {
    Set<QueueName> queues = waiting.get(application);
    if (queues != null) {
      recheck(queues);
    }
  }

  private void recheck(Set<QueueName> queues) {
    for (QueueName queue : List.copyOf(queues)) {
      queues.remove(queue);
      if (capacity(queue) > 0) {
        capacityChanged(queue);
      }
    }
  }

  private Set<String> registered(String application) {
    return workers.instances(application).stream()
        .map(WorkerInstance::id)
        .collect(Collectors.toSet());
  }

  /** Whether the queue's jobs wait for now because all that were sent failed. */
  public boolean isCircuitOpen(QueueName queue) {
    return circuits.isOpen(queue);
  }

  /** The queues whose jobs wait for that reason. */
  public List<QueueName> openCircuits() {
    return circuits.open();
  }

  /**
   * Calls an instance as a delivery would, with nothing to run. Blocks for some seconds at most. A
   * signed answer proves that the instance has the key of its application; else the result changes
   * nothing for jobs.
   */
  public PingResult ping(WorkerInstance instance) {
    PingResult result = ping.send(instance);
    if (proofs.pinged(instance, result)) {
      recheck(instance.application());
    }
    return result;
  }

  /** Returns whether an instance may be sent jobs, as far as its key is concerned. */
  public boolean isProven(WorkerInstance instance) {
    return proofs.isProven(instance);
  }

  /**
   * Forgets which other instances have shown their key, but for those that show it while the
   * instances are read.
   */
  public void retain(Supplier<? extends Collection<WorkerInstance>> instances) {
    proofs.retain(instances);
  }

  /** What is known of an instance from the calls to it. */
  public InstanceState state(WorkerInstance instance) {
    Instant now = clock.instant();
    InstanceState state = tracker.state(instance, workers.instances(instance.application()), now);
    return isProven(instance)
        ? state
        : new InstanceState(
            state.inFlight(),
            state.avoidedUntil(),
            new InstanceState.LastCall(now, false, KeyProofs.MISSING),
            state.attempts());
  }

  /** What this scheduler holds in memory for its deliveries. */
  public DispatchState inMemory() {
    return new DispatchState(
        tracker.inFlight(), suspects.waiting(), tracker.size(), tracker.hanging(), memory.used());
  }

  @Override
  public void dispatch(QueueName queue, List<Delivery> deliveries) {
    sender.send(queue, deliveries);
  }

  /** Gives back, at no attempt, what waits here; nothing waits from now on. */
  public void stop() {
    suspects.close();
  }

  private List<WorkerInstance> instances(QueueName queue) {
    return proven(workers.instances(queue.application(), queue.taskType()));
  }

  private List<WorkerInstance> proven(List<WorkerInstance> instances) {
    List<WorkerInstance> proven = proofs.proven(instances);
    if (proven.size() < instances.size()) {
      instances.stream().filter(instance -> !isProven(instance)).forEach(unproven);
    }
    return proven;
  }

  private void pause(Duration time) throws InterruptedException {
    if (closed.await(time.toNanos(), TimeUnit.NANOSECONDS)) {
      throw new InterruptedException("the dispatcher is closed");
    }
  }

  @Override
  public void close() {
    closed.countDown();
    deadlines.close();
    threads.shutdownNow();
    client.close();
  }
}
