package io.punctual.systemtest.linearizability;

import io.punctual.systemtest.EpochMicros;
import io.punctual.systemtest.Waiting;
import io.punctual.systemtest.linearizability.Answer.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

/**
 * Some clients change a few jobs through all engines, workers run them, one thing breaks; then all
 * jobs fall due and end well, and each history must be one that a single job could have had.
 */
final class EngineRun {

  private static final int CLIENTS = 3;
  private static final int JOBS = 16;
  private static final int PAUSE_MILLIS = 8;
  private static final int LEAST_MILLIS = 300;
  private static final int MOST_MILLIS = 500;
  // Engines look once a second whether Redis is the same; and a lease takes as long.
  private static final int AFTER_MILLIS = 1_300;
  private static final Duration DRAIN = Duration.ofSeconds(30);
  private static final Set<Outcome> ENDS =
      Set.of(Outcome.FINISHED, Outcome.DEAD, Outcome.CANCELLED, Outcome.NOT_FOUND);

  private final Recorder recorder = new Recorder();
  private final long begun = EpochMicros.now();
  private final List<String> taskIds =
      IntStream.range(0, JOBS).mapToObj(number -> "job-" + number).toList();
  private final long seed;
  private final EngineFault fault;
  private final EngineSystem system;

  private EngineRun(long seed, EngineFault fault, String durability) throws Exception {
    this.seed = seed;
    this.fault = fault;
    this.system =
        new EngineSystem(
            recorder,
            seed,
            durability,
            fault.needsReplica() || durability.startsWith("replicated"),
            fault == EngineFault.NOTHING);
  }

  /**
   * Runs.
   *
   * @param seed of the calls and of the fault's times; threads go as they like
   * @param durability as in the property {@code punctual.durability}
   * @return the shortest history that is wrong; empty if none is
   */
  static Optional<Histories.Violation> violation(long seed, EngineFault fault, String durability)
      throws Exception {
    EngineRun run = new EngineRun(seed, fault, durability);
    try (EngineSystem system = run.system) {
      run.run();
      system.stopPulling();
    }
    return Histories.violation(
        run.recorder.operations(),
        new JobModel.Rules(
            fault != EngineFault.NOTHING,
            fault == EngineFault.ENGINE_IS_STOPPED,
            EngineWorker.LEASE.toNanos() / 1000));
  }

  /** The same in terms of every class loader: the shortest history; empty if none is wrong. */
  static String wrongHistory(long seed, String fault, String durability) throws Exception {
    return violation(seed, EngineFault.valueOf(fault), durability)
        .map(Histories.Violation::toString)
        .orElse("");
  }

  EngineSystem system() {
    return system;
  }

  Recorder recorder() {
    return recorder;
  }

  /** Before anything happened, epoch µs. */
  long begun() {
    return begun;
  }

  private void run() throws Exception {
    Random random = new Random(seed);
    AtomicBoolean ended = new AtomicBoolean();
    List<Thread> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      clients.add(
          Thread.ofVirtual()
              .start(
                  new RandomClient(
                      "client-" + i,
                      taskIds,
                      system.calls(),
                      recorder,
                      random.nextLong(),
                      PAUSE_MILLIS,
                      ended)));
    }
    EngineFault.pass(random, LEAST_MILLIS, MOST_MILLIS);
    fault.happen(this, random);
    EngineFault.pass(random, LEAST_MILLIS, AFTER_MILLIS);
    ended.set(true);
    for (Thread client : clients) {
      client.join();
    }
    system.endAllWell();
    for (String id : taskIds) {
      Waiting.until("%s is over (seed %d, %s)".formatted(id, seed, fault), DRAIN, () -> isOver(id));
    }
  }

  /** Looks at a job, and has it due if it waits. */
  private boolean isOver(String id) {
    JobCalls scheduler = system.calls().get(0);
    Answer answer = recorder.call("judge", id, new Action.Find(), () -> scheduler.find(id));
    if (answer == null) {
      return false;
    }
    if (answer.outcome() == Outcome.WAITING) {
      Action.Reschedule now = new Action.Reschedule(Action.Due.NOW, null);
      recorder.call("judge", id, now, () -> scheduler.reschedule(id, now));
    }
    return ENDS.contains(answer.outcome());
  }
}
