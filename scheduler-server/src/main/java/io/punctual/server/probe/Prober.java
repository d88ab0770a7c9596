package io.punctual.server.probe;

import io.punctual.ErrorCode;
import io.punctual.server.dispatch.HttpDispatcher;
import io.punctual.server.dispatch.InstanceState;
import io.punctual.server.problem.ApiException;
import io.punctual.server.registry.WorkerDirectory;
import io.punctual.server.registry.WorkerInstance;
import io.punctual.server.text.Printable;
import io.punctual.server.text.PrintableException;
import io.punctual.server.work.RepeatedTask;
import io.punctual.wire.WorkerMetadata;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Probes instances: calls each of them without a job and keeps the result. Probes an instance when
 * it appears, when it changed and when jobs did not reach it. Repeats the probe while its result is
 * no {@link Status#OK}, where the registry does not say what the instance runs, and until an
 * instance that must show its application's key has shown it.
 *
 * <p>No other class pings instances: dispatcher and directory are told what the answer says.
 */
@Component
public class Prober extends RepeatedTask {

  private static final Logger log = LoggerFactory.getLogger(Prober.class);
  private static final Duration ROUND = Duration.ofSeconds(1);
  // A result that is not older is returned without another call.
  private static final Duration FRESH = Duration.ofSeconds(1);
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  // Its registry does not tell if what the instance runs changes.
  private static final Duration SAID = Duration.ofSeconds(5);
  // After an error of ours.
  private static final Duration DEFECT = Duration.ofSeconds(10);
  private static final long[] RETRY_MS = {2_000, 5_000, 15_000, 30_000};
  // Jobs wait for the proof, and an instance may be registered a moment before it listens.
  private static final long[] RETRY_UNPROVEN_MS = {500, 1_000, 2_000, 4_000, 5_000};

  private static final int AT_ONCE = 8;
  private static final int OF_APPLICATION = 2;
  // Of instances without proof. Other applications do not delay them: jobs wait.
  private static final int UNPROVEN_OF_APPLICATION = 4;

  private final WorkerDirectory workers;
  private final HttpDispatcher dispatcher;
  private final InstantSource clock = InstantSource.system();
  private final Map<String, ProbeState> states = new ConcurrentHashMap<>();
  private volatile long lastRound;
  private volatile @Nullable ExecutorService threads;
  private volatile @Nullable ProbeQueue probes;
  private volatile @Nullable ProbeQueue unproven;

  Prober(WorkerDirectory workers, HttpDispatcher dispatcher) {
    super("prober", ROUND, ROUND);
    this.workers = workers;
    this.dispatcher = dispatcher;
    dispatcher.onUnproven(this::prove);
  }

  /** A call that waits for its turn, or is made. */
  record Probe(Runnable call, CompletableFuture<ProbeResult> answer) {}

  /** An instance and the result of its last probe. */
  static final class ProbeState {
    private volatile WorkerInstance instance;
    // Monotonic ns.
    private final long since;
    private @Nullable ProbeResult result;
    @Nullable Probe running;
    private ProbeResult.@Nullable Code reported;
    // Monotonic ns; null if the last result needs no other probe.
    @Nullable Long dueAt;
    private int failures;
    private boolean avoided;

    ProbeState(WorkerInstance instance, long now) {
      this.instance = instance;
      this.since = now;
      this.dueAt = now;
    }

    /** Takes what the instance says of itself by now; false if it is registered in another way. */
    boolean shows(WorkerInstance now) {
      if (!instance.isRegisteredAs(now)) {
        return false;
      }
      instance = now;
      return true;
    }

    synchronized @Nullable ProbeResult result() {
      return result;
    }

    /** Returns whether to probe it in this round. */
    synchronized boolean isDue(long now, boolean avoidedNow) {
      if (running != null) {
        // If it is avoided since then, the next round notices.
        return false;
      }
      boolean newlyAvoided = avoidedNow && !avoided;
      avoided = avoidedNow;
      return newlyAvoided || (dueAt != null && now - dueAt >= 0);
    }

    /** Returns whether to probe it, since jobs wait for its proof. */
    synchronized boolean isProofDue(long now) {
      return running == null && (dueAt == null || now - dueAt >= 0);
    }
  }

  @Override
  public void start() {
    ExecutorService calls =
        Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("probe").factory());
    threads = calls;
    // Their probes waited in queues that are gone.
    states.clear();
    probes = new ProbeQueue(calls, AT_ONCE, OF_APPLICATION);
    unproven = new ProbeQueue(calls, Integer.MAX_VALUE, UNPROVEN_OF_APPLICATION);
    super.start();
  }

  @Override
  public void stop() {
    super.stop();
    probes = null;
    unproven = null;
    ExecutorService calls = threads;
    threads = null;
    if (calls != null) {
      calls.shutdownNow();
    }
  }

  // Before the engine, which sends no jobs to instances without proof.
  @Override
  public int getPhase() {
    return DEFAULT_PHASE - 8192;
  }

  /** Probes an instance at once that gets no jobs before it has shown its application's key. */
  private void prove(WorkerInstance instance) {
    long now = System.nanoTime();
    ProbeState state = state(instance, now);
    synchronized (state) {
      if (state.isProofDue(now) && !dispatcher.isProven(instance)) {
        var unused = probe(state, false);
      }
    }
  }

  /**
   * Returns the state of an instance; a new one if it was registered in another way.
   *
   * @param now when the registry shows the instance like that, or a moment before, in monotonic ns
   */
  private ProbeState state(WorkerInstance instance, long now) {
    return states.compute(
        key(instance.application(), instance.id()),
        (key, known) ->
            known != null && (known.since - now > 0 || known.shows(instance))
                ? known
                : new ProbeState(instance, now));
  }

  /** All instances, or those of one application, in order of application and id. */
  public List<WorkerReport> workers(@Nullable String application) {
    return states.values().stream()
        .filter(
            state ->
                application == null || state.instance.application().equalsIgnoreCase(application))
        .map(this::report)
        .sorted(Comparator.comparing(WorkerReport::key))
        .toList();
  }

  /**
   * Calls an instance now, with nothing to run, because a caller asks for it. Blocks for some
   * seconds at most.
   *
   * @throws ApiException 404 for an instance that is not in the registry, 503 if other probes take
   *     too long
   */
  public WorkerReport probe(String application, String instance) {
    String key = key(application, instance);
    // The rounds read the registry each second, so that unknown names need no further read.
    if (!states.containsKey(key) && System.nanoTime() - lastRound > ROUND.toNanos()) {
      tryTurn();
    }
    ProbeState state = states.get(key);
    if (state == null) {
      throw ApiException.of(
          ErrorCode.NOT_FOUND,
          "the registry shows this scheduler no instance "
              + Printable.of(instance)
              + " of "
              + Printable.of(application)
              + " that runs jobs");
    }
    ProbeResult last = state.result();
    if (last == null || last.at().isBefore(clock.instant().minus(FRESH))) {
      try {
        var unused = probe(state, true).get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (ExecutionException e) {
        log.debug("No new probe result of {}", Printable.of(instance), PrintableException.of(e));
      } catch (TimeoutException e) {
        throw ApiException.unavailable(
            "other probes of "
                + application
                + " are under way, and this one did not come to its end; GET /api/v1/workers has"
                + " the last result, with its time",
            Duration.ofSeconds(5));
      }
    }
    return report(state);
  }

  @Override
  protected synchronized void turn() {
    long now = System.nanoTime();
    lastRound = now;
    Set<ProbeState> shown =
        workers.all().stream().map(instance -> state(instance, now)).collect(Collectors.toSet());
    // The dispatcher may have named an instance that the view above does not show yet.
    states.values().removeIf(state -> state.since - now <= 0 && !shown.contains(state));
    // The dispatcher may name one at any time, and a probe of it may end before the next line.
    workers.retain(this::known);
    dispatcher.retain(this::known);
    for (ProbeState state : states.values()) {
      boolean avoided = dispatcher.state(state.instance).avoidedUntil() != null;
      synchronized (state) {
        if (state.isDue(now, avoided)) {
          var unused = probe(state, false);
        }
      }
    }
    startWaiting(probes);
    startWaiting(unproven);
  }

  private List<WorkerInstance> known() {
    return states.values().stream().map(state -> state.instance).toList();
  }

  private static void startWaiting(@Nullable ProbeQueue queue) {
    if (queue != null) {
      queue.startWaiting();
    }
  }

  private CompletableFuture<ProbeResult> probe(ProbeState state, boolean awaited) {
    String application = state.instance.application().toLowerCase(Locale.ROOT);
    ProbeQueue queue = dispatcher.isProven(state.instance) ? probes : unproven;
    Probe probe;
    boolean isNew;
    synchronized (state) {
      Probe before = state.running;
      isNew = before == null;
      if (before == null) {
        CompletableFuture<ProbeResult> answer = new CompletableFuture<>();
        probe = new Probe(() -> run(state, answer), answer);
        state.running = probe;
      } else {
        probe = before;
      }
    }
    try {
      if (queue == null) {
        throw new RejectedExecutionException("the scheduler is stopping");
      }
      if (isNew) {
        queue.add(application, probe.call());
      }
      if (awaited) {
        queue.hurry(application, probe.call());
      }
    } catch (RejectedExecutionException e) {
      synchronized (state) {
        state.running = null;
      }
      probe.answer().completeExceptionally(e);
    }
    return probe.answer();
  }

  private void run(ProbeState state, CompletableFuture<ProbeResult> future) {
    try {
      ProbeDiagnosis.Finding found =
          ProbeDiagnosis.of(state.instance, dispatcher.ping(state.instance), clock.instant());
      if (found.says() != null) {
        workers.said(state.instance, found.says());
      }
      keep(state, found);
      future.complete(found.result());
    } catch (Throwable e) {
      log.error(
          "Instance {} could not be probed",
          Printable.of(state.instance.id()),
          PrintableException.of(e));
      synchronized (state) {
        state.running = null;
        state.dueAt = System.nanoTime() + DEFECT.toNanos();
      }
      future.completeExceptionally(e);
    }
  }

  private void keep(ProbeState state, ProbeDiagnosis.Finding found) {
    ProbeResult result = found.result();
    boolean report;
    synchronized (state) {
      state.running = null;
      state.result = result;
      boolean bad = result.status() == Status.PROBLEM;
      state.failures = result.status() == Status.OK ? 0 : state.failures + 1;
      Duration next =
          nextProbe(
              state.instance, found.says(), dispatcher.isProven(state.instance), state.failures);
      state.dueAt = next == null ? null : System.nanoTime() + next.toNanos();
      // An instance may register a moment before it listens: its first failure is not logged.
      report =
          bad
              ? state.failures > 1 && state.reported != result.code()
              : state.reported != null && result.status() == Status.OK;
      if (report) {
        state.reported = bad ? result.code() : null;
      }
    }
    if (report) {
      report(state.instance, result);
    }
  }

  /**
   * Returns when to probe an instance again; null if it needs no other probe.
   *
   * @param says what it said of itself; null if it did not
   * @param proven whether it has shown its application's key, or need not
   * @param failures one after the other, until now
   */
  static @Nullable Duration nextProbe(
      WorkerInstance instance, @Nullable WorkerMetadata says, boolean proven, int failures) {
    boolean asked =
        !proven || instance.asked() || (says != null && !says.equals(instance.registered()));
    if (failures == 0) {
      return asked ? SAID : null;
    }
    long[] retries = proven ? RETRY_MS : RETRY_UNPROVEN_MS;
    Duration retry = Duration.ofMillis(retries[Math.min(failures, retries.length) - 1]);
    return asked && retry.compareTo(SAID) > 0 ? SAID : retry;
  }

  private static void report(WorkerInstance instance, ProbeResult result) {
    if (result.status() == Status.PROBLEM) {
      log.warn(
          "Instance {} of {} gets no jobs ({}): {}, at {}. {}",
          Printable.of(instance.id()),
          instance.application(),
          result.code().word(),
          Printable.of(result.message()),
          Printable.of(result.url()),
          result.remedy());
    } else {
      log.info(
          "Instance {} of {} is reached: {}",
          Printable.of(instance.id()),
          instance.application(),
          result.message());
    }
  }

  private WorkerReport report(ProbeState state) {
    WorkerInstance instance = state.instance;
    InstanceState now = dispatcher.state(instance);
    InstanceState.LastCall last = now.lastCall();
    return new WorkerReport(
        instance.application(),
        instance.id(),
        instance.source(),
        instance.callback().toString(),
        instance.metadata().taskTypes().stream().sorted().toList(),
        instance.metadata().protocol(),
        instance.metadata().release(),
        instance.metadata().concurrency(),
        now.inFlight(),
        now.attempts(),
        now.avoidedUntil(),
        last == null ? null : last.at(),
        last == null ? null : last.reason(),
        state.result());
  }

  private static String key(String application, String instance) {
    return application.toLowerCase(Locale.ROOT) + "/" + instance;
  }
}
