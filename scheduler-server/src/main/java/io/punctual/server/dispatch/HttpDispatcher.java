package io.punctual.server.dispatch;

import io.github.resilience4j.retry.Retry;
import io.github.resilience4j.retry.RetryConfig;
import io.punctual.core.engine.Delivery;
import io.punctual.core.engine.Dispatcher;
import io.punctual.core.engine.RepeatCause;
import io.punctual.core.queue.LogFields;
import io.punctual.core.queue.QueueName;
import io.punctual.server.registry.PrintableException;
import io.punctual.server.registry.WorkerDirectory;
import io.punctual.server.registry.WorkerInstance;
import io.punctual.server.security.Printable;
import io.punctual.wire.WorkerMetadata;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.ssl.SslBundle;

/**
 * Takes claimed jobs to live instances of their application.
 *
 * <p>Jobs that were claimed together and go to the same instance share a request. An instance that
 * was not reached is left alone for a while, and another one is tried at once; when none is left,
 * the jobs go back undelivered, which costs them no attempt.
 */
public final class HttpDispatcher implements Dispatcher, AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(HttpDispatcher.class);
  private static final int MAX_INSTANCES_TRIED = 4;
  private static final Duration FORBIDDEN = Duration.ofSeconds(30);
  // What is not refused so long after it was connected is being worked on.
  private static final Duration TAKEN = Duration.ofMillis(500);

  private final WorkerDirectory workers;
  private final InstanceBoard board;
  private final Circuits circuits;
  private final Chooser chooser;
  private final CallbackTargets targets;
  private final InstantSource clock;
  private final Ping ping;
  private final LastTried lastTried = new LastTried(10_000);
  private final Map<String, Callback> protocols;
  private final Deadlines deadlines = new Deadlines();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  // By application, which is what the registry knows: there may be thousands of queues.
  private final Map<String, Set<QueueName>> waiting = new ConcurrentHashMap<>();
  private volatile Consumer<QueueName> capacityChanged = queue -> {};

  /**
   * @param name of this scheduler, which callbacks carry
   * @param tls whom to trust on https, and who we are there; null for what the JVM says
   */
  public HttpDispatcher(
      String name,
      WorkerDirectory workers,
      Duration connectTimeout,
      Duration avoid,
      CircuitOptions circuit,
      CallbackKeys keys,
      CallbackTargets targets,
      @Nullable SslBundle tls,
      InstantSource clock) {
    this.targets = targets;
    this.clock = clock;
    this.workers = workers;
    this.board = new InstanceBoard(avoid, connectTimeout.plus(TAKEN), System::nanoTime);
    this.circuits =
        new Circuits(circuit, queue -> board.serving(instances(queue)), System::nanoTime);
    this.chooser = new Chooser(board, bound -> ThreadLocalRandom.current().nextInt(bound));
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(connectTimeout)
            .executor(threads)
            .proxy(HttpClient.Builder.NO_PROXY);
    if (tls != null) {
      SSLContext context = tls.createSslContext();
      SSLParameters parameters = context.getDefaultSSLParameters();
      if (tls.getOptions().getCiphers() != null) {
        parameters.setCipherSuites(tls.getOptions().getCiphers());
      }
      if (tls.getOptions().getEnabledProtocols() != null) {
        parameters.setProtocols(tls.getOptions().getEnabledProtocols());
      }
      builder.sslContext(context).sslParameters(parameters);
    }
    HttpClient client = builder.build();
    this.ping = new Ping(name, client, targets, keys, clock, threads);
    this.protocols =
        Map.of(
            WorkerMetadata.BATCH, new BatchCallback(name, client, deadlines, clock, avoid, keys),
            WorkerMetadata.SINGLE, new SingleCallback(name, client, deadlines, clock, avoid, keys));
  }

  /** Whom to tell when a queue that had nobody to go to has somebody. */
  public void onCapacity(Consumer<QueueName> listener) {
    capacityChanged = listener;
  }

  @Override
  public int capacity(QueueName queue) {
    int capacity = circuits.free(queue, board.free(instances(queue)));
    if (capacity == 0) {
      waiting
          .computeIfAbsent(queue.application(), name -> ConcurrentHashMap.newKeySet())
          .add(queue);
    }
    return capacity;
  }

  /** Looks again at the queues that had no capacity. To be called often: it only reads memory. */
  public void recheckWaiting() {
    waiting.forEach(
        (application, queues) -> {
          if (workers.instances(application).stream()
              .anyMatch(instance -> board.free(instance) > 0)) {
            recheck(queues);
          }
        });
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
   * Calls an instance as a delivery would, with nothing to run. Blocks for some seconds at most;
   * what comes of it changes nothing for jobs.
   */
  public PingResult ping(WorkerInstance instance) {
    return ping.send(instance);
  }

  /** What is known of an instance from the calls to it. */
  public InstanceState state(WorkerInstance instance) {
    return board.state(instance, workers.instances(instance.application()), clock.instant());
  }

  private void recheck(Set<QueueName> queues) {
    for (QueueName queue : List.copyOf(queues)) {
      queues.remove(queue);
      if (capacity(queue) > 0) {
        capacityChanged.accept(queue);
      }
    }
  }

  @Override
  public void dispatch(QueueName queue, List<Delivery> deliveries) {
    List<WorkerInstance> instances = instances(queue);
    if (instances.isEmpty()) {
      deliveries.forEach(
          delivery -> {
            var unused = delivery.release();
          });
      return;
    }
    Map<WorkerInstance, List<Sent>> groups = new LinkedHashMap<>();
    for (Delivery delivery : deliveries) {
      // Anew for each: an instance that is probed gets one.
      WorkerInstance instance =
          chooser.choose(board.candidates(instances), lastTried.wish(delivery.incarnation()));
      Sent sent = started(queue, instance, delivery);
      if (delivery.travelsAlone() || instance.metadata().protocol().equals(WorkerMetadata.SINGLE)) {
        send(queue, instance, List.of(sent));
      } else {
        groups.computeIfAbsent(instance, i -> new ArrayList<>()).add(sent);
      }
    }
    groups.forEach((instance, group) -> send(queue, instance, group));
  }

  private void send(QueueName queue, WorkerInstance first, List<Sent> group) {
    threads.execute(
        () -> {
          try {
            new Journey(queue, first, group).travel();
          } catch (Throwable e) {
            log.error(
                "Jobs of {} are left to their leases, a callback failed oddly",
                queue,
                PrintableException.of(e));
          }
        });
  }

  private List<WorkerInstance> instances(QueueName queue) {
    return workers.instances(queue.application(), queue.taskType());
  }

  private Sent started(QueueName queue, WorkerInstance instance, Delivery delivery) {
    board.started(instance);
    return new Sent(delivery, circuits.started(queue, delivery.waited()));
  }

  private void withdrawn(Sent sent, WorkerInstance instance) {
    board.withdrawn(instance);
    sent.ticket().withdrawn();
  }

  private void ended(
      Delivery delivery, WorkerInstance instance, long sentAt, @Nullable RepeatCause cause) {
    lastTried.ended(delivery.incarnation(), instance.id(), cause);
    if (cause == null) {
      board.answered(instance);
    } else if (cause == RepeatCause.TIME_OVER) {
      timeOver(delivery, instance, sentAt);
    }
    board.ended(instance, sentAt);
    capacityChanged.accept(delivery.queue());
  }

  private void timeOver(Delivery delivery, WorkerInstance instance, long sentAt) {
    String reason = Deadlines.timeOver(delivery.content());
    Duration pause = board.timeOver(instance, sentAt, reason);
    if (pause != null && !board.candidates(instances(delivery.queue())).contains(instance)) {
      LogFields.of(log.atWarn(), delivery.queue())
          .addKeyValue("punctual.instance", instance.id())
          .log(
              "Instance {} takes jobs and answers none of them; others get them for {}: {}",
              instance.id(),
              pause,
              reason);
    }
  }

  @Override
  public void close() {
    deadlines.close();
    threads.shutdownNow();
  }

  /** A delivery that counts as being with an instance. */
  private record Sent(Delivery delivery, Circuit.Ticket ticket) {}

  /** A group on its way from instance to instance until one takes it. */
  private final class Journey {

    private final QueueName queue;
    private final Set<String> tried = new HashSet<>();
    private List<Sent> group;
    private WorkerInstance instance;

    Journey(QueueName queue, WorkerInstance first, List<Sent> group) {
      this.queue = queue;
      this.instance = first;
      this.group = group;
    }

    void travel() {
      Retry anotherInstance =
          Retry.of(
              "callback",
              RetryConfig.custom()
                  .maxAttempts(MAX_INSTANCES_TRIED)
                  .intervalFunction(attempt -> 0L)
                  .retryOnException(e -> e instanceof NotSentException && moveOn())
                  .build());
      try {
        anotherInstance.executeRunnable(this::attempt);
      } catch (NotSentException e) {
        WorkerInstance last = instance;
        group.forEach(
            sent -> {
              // At once: the instance is left alone for a while, and whoever appears meanwhile
              // shall not wait for this job's back-off.
              var unused = sent.delivery().undeliverable(last.id(), e.reason(), Duration.ZERO);
            });
        capacityChanged.accept(queue);
      }
    }

    private void attempt() {
      WorkerInstance target = instance;
      tried.add(target.id());
      Map<Boolean, List<Sent>> byLease =
          group.stream().collect(Collectors.partitioningBy(sent -> sent.delivery().leaseHeld()));
      List<Sent> held = byLease.getOrDefault(true, List.of());
      long sentAt = System.nanoTime();
      List<Attempt> attempts =
          held.stream()
              .map(
                  sent ->
                      new Attempt(
                          sent.delivery(),
                          target.id(),
                          held.size() == 1,
                          sent.ticket(),
                          // That it is at long work is an answer, too.
                          () -> board.answered(target),
                          cause -> ended(sent.delivery(), target, sentAt, cause)))
              .toList();
      for (Sent lost : byLease.getOrDefault(false, List.of())) {
        withdrawn(lost, target);
        capacityChanged.accept(queue);
      }
      if (held.isEmpty()) {
        return;
      }
      for (Sent sent : held) {
        lastTried.started(sent.delivery().incarnation(), target.id());
        sent.delivery().started();
      }
      Callback protocol = Objects.requireNonNull(protocols.get(target.metadata().protocol()));
      try {
        String refusal = targets.refusal(target.callback());
        if (refusal != null) {
          throw new NotSentException(refusal, FORBIDDEN);
        }
        protocol.call(
            target,
            attempts,
            () -> {
              board.reached(target);
              capacityChanged.accept(queue);
            });
      } catch (NotSentException e) {
        board.avoid(target, e.avoid(), e.reason());
        // Attempts whose time was over meanwhile are settled; only the others travel on.
        group =
            IntStream.range(0, held.size())
                .filter(i -> attempts.get(i).takeBack())
                .mapToObj(held::get)
                .toList();
        group.forEach(
            sent -> {
              withdrawn(sent, target);
              lastTried.notSent(sent.delivery().incarnation(), target.id());
            });
        LogFields.of(log.atInfo(), queue)
            .addKeyValue("punctual.instance", target.id())
            .log(
                "Instance {} is left alone for {}: {}",
                target.id(),
                e.avoid(),
                Printable.of(e.reason()));
        throw e;
      } catch (UntrustedAnswerException e) {
        board.avoid(target, FORBIDDEN, String.valueOf(e.getMessage()));
        // It knows nothing of them that could be believed.
        held.forEach(sent -> lastTried.forget(sent.delivery().incarnation()));
        LogFields.of(log.atWarn(), queue)
            .addKeyValue("punctual.instance", target.id())
            .log(
                "Instance {} is left alone for {}: {}",
                target.id(),
                FORBIDDEN,
                Printable.of(String.valueOf(e.getMessage())));
      } catch (Throwable e) {
        // Also an Error: else they would count as being with the instance for good.
        log.error("A callback to {} failed oddly", target.id(), PrintableException.of(e));
        attempts.forEach(
            attempt ->
                attempt.unknown("the callback failed: " + e.getMessage(), RepeatCause.ANSWER_LOST));
      }
    }

    /** Picks an instance that was not tried yet; false when there is none. */
    private boolean moveOn() {
      if (group.isEmpty()) {
        return false;
      }
      List<WorkerInstance> left =
          board.candidates(instances(queue)).stream()
              .filter(
                  candidate ->
                      !tried.contains(candidate.id())
                          && candidate.metadata().protocol().equals(instance.metadata().protocol())
                          && board.free(candidate) > 0)
              .toList();
      if (left.isEmpty()) {
        return false;
      }
      // Only what travels alone was tried before.
      LastTried.Wish wish =
          group.size() == 1
              ? lastTried.wish(group.get(0).delivery().incarnation())
              : LastTried.Wish.NONE;
      instance = chooser.choose(left, wish);
      group = group.stream().map(sent -> started(queue, instance, sent.delivery())).toList();
      return true;
    }
  }
}
