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
  private static final int AT_ONCE = 8;

  private final WorkerDirectory workers;
  private final HttpDispatcher dispatcher;
  private final boolean probing;
  private final InstantSource clock = InstantSource.system();
  private final Triage triage = new Triage(clock);
  private final Map<String, Patient> patients = new ConcurrentHashMap<>();
  private boolean blind;
  private volatile @Nullable ScheduledExecutorService rounds;
  private volatile @Nullable ExecutorService probes;

  Doctor(WorkerDirectory workers, HttpDispatcher dispatcher, DoctorProperties properties) {
    this.workers = workers;
    this.dispatcher = dispatcher;
    this.probing = properties.probe();
  }

  /** An instance and what is known of it. */
  private static final class Patient {
    private final WorkerInstance instance;
    private @Nullable Diagnosis diagnosis;
    private @Nullable CompletableFuture<Diagnosis> underWay;
    private Diagnosis.@Nullable Code told;
    // Null where one look is enough.
    private @Nullable Long againAt;
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
      boolean newlyAvoided = avoidedNow && !avoided;
      avoided = avoidedNow;
      return underWay == null && (newlyAvoided || (againAt != null && now - againAt >= 0));
    }
  }

  @Override
  public void start() {
    probes = Executors.newFixedThreadPool(AT_ONCE, Thread.ofVirtual().name("probe").factory());
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
    ExecutorService pool = probes;
    probes = null;
    if (pool != null) {
      pool.shutdownNow();
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
   * Calls an instance now. Blocks for some seconds at most; where many wait to be called, the
   * report has what was seen before.
   *
   * @return empty if no such instance is in the registry
   */
  public Optional<WorkerReport> probe(String application, String instance) {
    String key = key(application, instance);
    if (!patients.containsKey(key)) {
      look();
    }
    Patient patient = patients.get(key);
    if (patient == null) {
      return Optional.empty();
    }
    Diagnosis last = patient.diagnosis();
    if (last == null || last.at().isBefore(clock.instant().minus(FRESH))) {
      try {
        var unused = examine(patient).get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (ExecutionException | TimeoutException e) {
        log.debug("No new diagnosis of {}", Printable.of(instance), PrintableException.of(e));
      }
    }
    return Optional.of(report(patient));
  }

  private synchronized void look() {
    try {
      long now = System.nanoTime();
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
            var unused = examine(patient);
          }
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

  private CompletableFuture<Diagnosis> examine(Patient patient) {
    CompletableFuture<Diagnosis> future;
    synchronized (patient) {
      if (patient.underWay != null) {
        return patient.underWay;
      }
      future = new CompletableFuture<>();
      patient.underWay = future;
    }
    ExecutorService pool = probes;
    try {
      if (pool == null) {
        throw new RejectedExecutionException("the scheduler ends");
      }
      pool.execute(() -> run(patient, future));
    } catch (RejectedExecutionException e) {
      synchronized (patient) {
        patient.underWay = null;
      }
      future.completeExceptionally(e);
    }
    return future;
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
