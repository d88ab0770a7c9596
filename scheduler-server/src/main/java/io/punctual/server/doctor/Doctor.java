package io.punctual.server.doctor;

import io.punctual.server.dispatch.HttpDispatcher;
import io.punctual.server.dispatch.InstanceState;
import io.punctual.server.registry.PrintableException;
import io.punctual.server.registry.WorkerDirectory;
import io.punctual.server.registry.WorkerInstance;
import io.punctual.server.security.Printable;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/**
 * Calls each instance once when it appears, or when it changed, or when jobs did not get through to
 * it, with nothing to run, and keeps what was seen. One that is not well is called again from time
 * to time, so that what is said of it is true.
 */
@Component
public class Doctor implements SmartLifecycle {

  private static final Logger log = LoggerFactory.getLogger(Doctor.class);
  private static final Duration LOOK = Duration.ofSeconds(1);
  // An answer of just now is as good as another call.
  private static final Duration FRESH = Duration.ofSeconds(1);
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final long[] AGAIN_S = {2, 5, 15, 30};

  private final WorkerDirectory workers;
  private final HttpDispatcher dispatcher;
  private final boolean probing;
  private final InstantSource clock = InstantSource.system();
  private final Triage triage = new Triage(clock);
  private final Map<String, Patient> patients = new ConcurrentHashMap<>();
  private boolean blind;
  private volatile long lookedAt;
  private volatile @Nullable ScheduledExecutorService rounds;
  private volatile @Nullable ExecutorService threads;
  private volatile @Nullable ProbeQueue probes;

  Doctor(WorkerDirectory workers, HttpDispatcher dispatcher, DoctorProperties properties) {
    this.workers = workers;
    this.dispatcher = dispatcher;
    this.probing = properties.probe();
  }

  /** A call that waits for its turn, or is made. */
  record Probe(Runnable call, CompletableFuture<Diagnosis> answer) {}

  /** An instance and what is known of it. */
  static final class Patient {
    private final WorkerInstance instance;
    private @Nullable Diagnosis diagnosis;
    @Nullable Probe underWay;
    private Diagnosis.@Nullable Code told;
    // Null where one look is enough.
    @Nullable Long againAt;
    private int failures;
    private boolean avoided;

    Patient(WorkerInstance instance, long now) {
      this.instance = instance;
      this.againAt = now;
    }

    synchronized @Nullable Diagnosis diagnosis() {
      return diagnosis;
    }

    /** Whether it is time to call it, in this round. */
    synchronized boolean isDue(long now, boolean avoidedNow) {
      if (underWay != null) {
        // That it is avoided since then shows in the next round.
        return false;
      }
      boolean newlyAvoided = avoidedNow && !avoided;
      avoided = avoidedNow;
      return newlyAvoided || (againAt != null && now - againAt >= 0);
    }
  }

  @Override
  public void start() {
    ExecutorService calls =
        Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("probe").factory());
    threads = calls;
    probes = new ProbeQueue(calls);
    ScheduledExecutorService started =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("doctor").factory());
    var unused =
        started.scheduleWithFixedDelay(
            this::look, LOOK.toMillis(), LOOK.toMillis(), TimeUnit.MILLISECONDS);
    rounds = started;
  }

  @Override
  public void stop() {
    ScheduledExecutorService started = rounds;
    rounds = null;
    if (started != null) {
      started.shutdownNow();
    }
    probes = null;
    ExecutorService calls = threads;
    threads = null;
    if (calls != null) {
      calls.shutdownNow();
    }
  }

  @Override
  public boolean isRunning() {
    return rounds != null;
  }

  /** All instances, or those of one application, in order of application and id. */
  public List<WorkerReport> workers(@Nullable String application) {
    return patients.values().stream()
        .filter(
            patient ->
                application == null || patient.instance.application().equalsIgnoreCase(application))
        .map(this::report)
        .sorted(Comparator.comparing(WorkerReport::key))
        .toList();
  }

  /**
   * Calls an instance now. Blocks for some seconds at most.
   *
   * @return empty if no such instance is in the registry
   * @throws TimeoutException if its turn did not come, or the call did not end
   */
  public Optional<WorkerReport> probe(String application, String instance) throws TimeoutException {
    String key = key(application, instance);
    // A round has just looked, or does so in a moment: names that are none cost no more.
    if (!patients.containsKey(key) && System.nanoTime() - lookedAt > LOOK.toNanos()) {
      look();
    }
    Patient patient = patients.get(key);
    if (patient == null) {
      return Optional.empty();
    }
    Diagnosis last = patient.diagnosis();
    if (last == null || last.at().isBefore(clock.instant().minus(FRESH))) {
      try {
        var unused = examine(patient, true).get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (ExecutionException e) {
        log.debug("No new diagnosis of {}", Printable.of(instance), PrintableException.of(e));
      }
    }
    return Optional.of(report(patient));
  }

  private synchronized void look() {
    try {
      long now = System.nanoTime();
      lookedAt = now;
      Map<String, WorkerInstance> seen = new HashMap<>();
      workers
          .all()
          .forEach(instance -> seen.put(key(instance.application(), instance.id()), instance));
      patients.keySet().retainAll(seen.keySet());
      seen.forEach(
          (key, instance) ->
              patients.compute(
                  key,
                  (any, known) ->
                      known != null && known.instance.equals(instance)
                          ? known
                          : new Patient(instance, now)));
      if (probing) {
        for (Patient patient : patients.values()) {
          if (patient.isDue(now, dispatcher.state(patient.instance).avoidedUntil() != null)) {
            var unused = examine(patient, false);
          }
        }
        ProbeQueue queue = probes;
        if (queue != null) {
          queue.startWaiting();
        }
      }
      blind = false;
    } catch (Throwable e) {
      // Also an Error: a round that ends with one would be the last.
      if (!blind) {
        log.warn(
            "Workers could not be looked at; what was seen of them stays, trying again",
            PrintableException.of(e));
      }
      blind = true;
    }
  }

  private CompletableFuture<Diagnosis> examine(Patient patient, boolean awaited) {
    String application = patient.instance.application().toLowerCase(Locale.ROOT);
    ProbeQueue queue = probes;
    Probe probe;
    boolean isNew;
    synchronized (patient) {
      Probe before = patient.underWay;
      isNew = before == null;
      if (before == null) {
        CompletableFuture<Diagnosis> answer = new CompletableFuture<>();
        probe = new Probe(() -> run(patient, answer), answer);
        patient.underWay = probe;
      } else {
        probe = before;
      }
    }
    try {
      if (queue == null) {
        throw new RejectedExecutionException("the scheduler ends");
      }
      if (isNew) {
        queue.add(application, probe.call());
      }
      if (awaited) {
        queue.hurry(application, probe.call());
      }
    } catch (RejectedExecutionException e) {
      synchronized (patient) {
        patient.underWay = null;
      }
      probe.answer().completeExceptionally(e);
    }
    return probe.answer();
  }

  private void run(Patient patient, CompletableFuture<Diagnosis> future) {
    try {
      Diagnosis diagnosis = triage.of(patient.instance, dispatcher.ping(patient.instance));
      keep(patient, diagnosis);
      future.complete(diagnosis);
    } catch (Throwable e) {
      log.error(
          "Instance {} could not be probed",
          Printable.of(patient.instance.id()),
          PrintableException.of(e));
      synchronized (patient) {
        patient.underWay = null;
        patient.againAt = System.nanoTime() + TimeUnit.SECONDS.toNanos(AGAIN_S[3]);
      }
      future.completeExceptionally(e);
    }
  }

  private void keep(Patient patient, Diagnosis diagnosis) {
    boolean tell;
    synchronized (patient) {
      patient.underWay = null;
      patient.diagnosis = diagnosis;
      boolean bad = diagnosis.status() == Status.PROBLEM;
      patient.failures = diagnosis.status() == Status.OK ? 0 : patient.failures + 1;
      patient.againAt =
          diagnosis.status() == Status.OK
              ? null
              : System.nanoTime()
                  + TimeUnit.SECONDS.toNanos(
                      AGAIN_S[Math.min(patient.failures, AGAIN_S.length) - 1]);
      // Who registers a moment before it listens is not worth a line.
      tell =
          bad
              ? patient.failures > 1 && patient.told != diagnosis.code()
              : patient.told != null && diagnosis.status() == Status.OK;
      if (tell) {
        patient.told = bad ? diagnosis.code() : null;
      }
    }
    if (tell) {
      tell(patient.instance, diagnosis);
    }
  }

  private static void tell(WorkerInstance instance, Diagnosis diagnosis) {
    if (diagnosis.status() == Status.PROBLEM) {
      log.warn(
          "Instance {} of {} gets no jobs ({}): {}, at {}. {}",
          Printable.of(instance.id()),
          instance.application(),
          diagnosis.code().word(),
          Printable.of(diagnosis.seen()),
          Printable.of(diagnosis.url()),
          diagnosis.cure());
    } else {
      log.info(
          "Instance {} of {} is reached: {}",
          Printable.of(instance.id()),
          instance.application(),
          diagnosis.seen());
    }
  }

  private WorkerReport report(Patient patient) {
    WorkerInstance instance = patient.instance;
    InstanceState state = dispatcher.state(instance);
    InstanceState.LastCall last = state.lastCall();
    return new WorkerReport(
        instance.application(),
        instance.id(),
        instance.callback().toString(),
        instance.metadata().taskTypes().stream().sorted().toList(),
        instance.metadata().protocol(),
        instance.metadata().concurrency(),
        state.inFlight(),
        state.avoidedUntil(),
        last == null ? null : last.at(),
        last == null ? null : last.reason(),
        patient.diagnosis());
  }

  private static String key(String application, String instance) {
    return application.toLowerCase(Locale.ROOT) + "/" + instance;
  }
}
