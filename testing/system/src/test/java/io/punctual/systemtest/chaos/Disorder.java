package io.punctual.systemtest.chaos;

import io.punctual.systemtest.Fault;
import io.punctual.systemtest.Fault.Effect;
import io.punctual.systemtest.FaultyLink.Mode;
import io.punctual.systemtest.JavaProcess;
import java.util.function.BiFunction;
import java.util.random.RandomGenerator;

/**
 * A fault, which is repaired after a while, and its possible effects. Numbers are seconds, at least
 * and at most.
 */
// What the lambdas hold are constants.
@SuppressWarnings("ImmutableEnumChecker")
enum Disorder {
  SCHEDULER_KILLED(Part.SCHEDULERS, Effect.REPEATS, killed(ChaosSystem::anyScheduler, 2)),
  // In good order: it waits for the answers.
  SCHEDULER_TOLD_TO_END(Part.SCHEDULERS, Effect.NONE, toldToEnd(ChaosSystem::anyScheduler)),
  // Its lease is over by then, and all that it held is with others.
  SCHEDULER_FROZEN(Part.SCHEDULERS, Effect.REPEATS, frozen(ChaosSystem::anyScheduler, 7, 10)),
  WORKER_KILLED(Part.WORKERS, Effect.REPEATS, killed(ChaosSystem::anyWorker, 2)),
  FOUR_OF_FIVE_WORKERS_KILLED(
      Part.WORKERS, Effect.REPEATS, (system, random) -> system.killAllButOneWorker(random)),
  WORKER_TOLD_TO_END(Part.WORKERS, Effect.NONE, toldToEnd(ChaosSystem::anyWorker)),
  // Less than the time to run of most jobs: schedulers wait for those.
  WORKER_FROZEN(Part.WORKERS, Effect.HOLDS, frozen(ChaosSystem::anyWorker, 4, 8)),
  // It releases what waits and finishes what runs.
  PULLER_TOLD_TO_END(Part.PULLERS, Effect.NONE, toldToEnd(ChaosSystem::anyPuller)),
  PULLER_KILLED(Part.PULLERS, Effect.REPEATS, killed(ChaosSystem::anyPuller, 2)),
  // A scheduler, worker or puller is told to end and started again while there is no registry.
  REGISTRY_AWAY_AT_START(
      Part.ALL, Effect.NONE, (system, random) -> system.startWithoutRegistry(random)),
  REGISTRY_KILLED(Part.REGISTRY, Effect.NONE, killed((system, random) -> system.registry(), 4)),
  REGISTRY_TOLD_TO_END(
      Part.REGISTRY, Effect.NONE, toldToEnd((system, random) -> system.registry())),
  REDIS_KILLED(
      Part.REDIS,
      Effect.REPEATS,
      redis(
          (system, random) -> {
            system.redis().kill();
            ChaosSystem.pass(random, 0, 3);
            system.redis().start();
          })),
  // What the replica has not confirmed is forgotten: claims and ends.
  REDIS_FAILS_OVER(Part.REDIS, Effect.FORGETS, redis((system, random) -> system.failOver(random))),
  REDIS_FROZEN(
      Part.REDIS,
      Effect.REPEATS,
      redis(
          (system, random) -> {
            system.redis().suspend();
            ChaosSystem.pass(random, 1, 6);
            system.redis().resume();
          })),
  // Submits are refused, claims and the ends of attempts are not.
  REDIS_FULL(
      Part.REDIS,
      Effect.NONE,
      redis(
          (system, random) -> {
            system.callRedis("CONFIG", "SET", "maxmemory", "1");
            ChaosSystem.pass(random, 1, 4);
            system.callRedis("CONFIG", "SET", "maxmemory", "0");
          })),
  REDIS_FORGETS_SCRIPTS(
      Part.REDIS, Effect.NONE, redis((system, random) -> system.callRedis("SCRIPT", "FLUSH"))),
  // What was sent is sent again.
  REDIS_DROPS_CONNECTIONS(
      Part.REDIS,
      Effect.DELAYS,
      redis(
          (system, random) -> {
            system.callRedis("CLIENT", "KILL", "TYPE", "pubsub");
            system.callRedis("CLIENT", "KILL", "TYPE", "normal");
          })),
  LINK_TO_REDIS_SLOW(Part.WAYS_TO_REDIS, Effect.DELAYS, redisLink(Mode.SLOW, 1, 4)),
  LINK_TO_REDIS_HALF_OPEN(Part.WAYS_TO_REDIS, Effect.REPEATS, redisLink(Mode.HALF_OPEN, 1, 6)),
  LINK_TO_REDIS_DEAF(Part.WAYS_TO_REDIS, Effect.REPEATS, redisLink(Mode.DEAF, 1, 4)),
  LINK_TO_REDIS_CUT(Part.WAYS_TO_REDIS, Effect.REPEATS, redisLink(Mode.CUT, 0, 4)),
  LINK_TO_WORKER_SLOW(Part.WAYS_TO_WORKERS, Effect.DELAYS, workerLink(Mode.SLOW, 1, 4)),
  LINK_TO_WORKER_HALF_OPEN(Part.WAYS_TO_WORKERS, Effect.REPEATS, workerLink(Mode.HALF_OPEN, 1, 6)),
  LINK_TO_WORKER_DEAF(Part.WAYS_TO_WORKERS, Effect.REPEATS, workerLink(Mode.DEAF, 1, 6)),
  // The head of an answer and half of its body come, the rest does not.
  WORKER_STALLS_IN_BODY(Part.WAYS_TO_WORKERS, Effect.REPEATS, workerLink(Mode.STALLED, 1, 6)),
  LINK_TO_WORKER_CUT(Part.WAYS_TO_WORKERS, Effect.REPEATS, workerLink(Mode.CUT, 0, 4)),
  LINK_TO_REGISTRY_SLOW(Part.WAYS_TO_REGISTRY, Effect.NONE, registryLink(Mode.SLOW, 1, 4)),
  // At times so long that the registry takes who is behind it for dead.
  LINK_TO_REGISTRY_HALF_OPEN(
      Part.WAYS_TO_REGISTRY, Effect.NONE, registryLink(Mode.HALF_OPEN, 1, 18)),
  LINK_TO_REGISTRY_DEAF(Part.WAYS_TO_REGISTRY, Effect.NONE, registryLink(Mode.DEAF, 1, 6)),
  LINK_TO_REGISTRY_CUT(Part.WAYS_TO_REGISTRY, Effect.NONE, registryLink(Mode.CUT, 0, 4)),
  // What was submitted and not acknowledged is submitted again, to the other scheduler.
  LINK_TO_SCHEDULER_SLOW(Part.WAYS_TO_SCHEDULERS, Effect.NONE, schedulerLink(Mode.SLOW, 1, 4)),
  LINK_TO_SCHEDULER_HALF_OPEN(
      Part.WAYS_TO_SCHEDULERS, Effect.NONE, schedulerLink(Mode.HALF_OPEN, 1, 6)),
  LINK_TO_SCHEDULER_DEAF(Part.WAYS_TO_SCHEDULERS, Effect.NONE, schedulerLink(Mode.DEAF, 1, 6)),
  SCHEDULER_STALLS_IN_BODY(Part.WAYS_TO_SCHEDULERS, Effect.NONE, schedulerLink(Mode.STALLED, 1, 6)),
  LINK_TO_SCHEDULER_CUT(Part.WAYS_TO_SCHEDULERS, Effect.NONE, schedulerLink(Mode.CUT, 0, 4)),
  STRANGERS_HOLD_CONNECTIONS(
      Part.STRANGERS, Effect.NONE, (system, random) -> system.holdConnections(random)),
  // No fault, but much work at once, which goes on while other things break.
  BULK_MOVE(
      Part.BULK,
      Effect.NONE,
      (system, random) -> {
        system.bulk().begin();
        return new Hit("all", run -> false);
      });

  /** Of which one thing can be broken at a time. */
  private enum Part {
    SCHEDULERS,
    WORKERS,
    PULLERS,
    REGISTRY,
    REDIS,
    WAYS_TO_REDIS,
    WAYS_TO_WORKERS,
    WAYS_TO_REGISTRY,
    WAYS_TO_SCHEDULERS,
    STRANGERS,
    BULK,
    /** It goes with nothing else. */
    ALL
  }

  private interface Event {
    /** Happens; answers which runs were in the hands of what it broke. */
    Hit in(ChaosSystem system, RandomGenerator random);
  }

  private interface Whole {
    void in(ChaosSystem system, RandomGenerator random);
  }

  private interface Choice extends BiFunction<ChaosSystem, RandomGenerator, JavaProcess> {}

  private final Part part;
  private final Effect effect;
  private final Event event;

  Disorder(Part part, Effect effect, Event event) {
    this.part = part;
    this.effect = effect;
    this.event = event;
  }

  Fault happen(ChaosSystem system, RandomGenerator random) {
    Fault fault = Fault.of(toString(), effect, () -> event.in(system, random));
    return holdsDeliveries() ? fault.holdingDeliveries() : fault;
  }

  /** Whether a delivery may stay on its way to a worker, or in what stands still, meanwhile. */
  private boolean holdsDeliveries() {
    return this == SCHEDULER_FROZEN || this == WORKER_FROZEN || part == Part.WAYS_TO_WORKERS;
  }

  /** Whether both can be there at once. */
  boolean goesWith(Disorder other) {
    return part != other.part && part != Part.ALL && other.part != Part.ALL;
  }

  /** Whether schedulers live on, and reach Redis. */
  boolean sparesSchedulers() {
    return part != Part.ALL
        && part != Part.SCHEDULERS
        && part != Part.REDIS
        && part != Part.WAYS_TO_REDIS;
  }

  /** Every job is in Redis. */
  private static Event redis(Whole event) {
    return (system, random) -> {
      event.in(system, random);
      return new Hit("redis", run -> true);
    };
  }

  private static Event killed(Choice choice, int atMost) {
    return (system, random) -> {
      JavaProcess process = choice.apply(system, random);
      Hit runs = system.runsOf(process);
      system.remember(process);
      process.kill();
      ChaosSystem.pass(random, 0, atMost);
      process.start();
      return runs;
    };
  }

  private static Event toldToEnd(Choice choice) {
    return (system, random) -> {
      JavaProcess process = choice.apply(system, random);
      Hit runs = system.runsOf(process);
      system.remember(process);
      process.terminate();
      process.start();
      return runs;
    };
  }

  private static Event frozen(Choice choice, int atLeast, int atMost) {
    return (system, random) -> {
      JavaProcess process = choice.apply(system, random);
      Hit runs = system.runsOf(process);
      process.suspend();
      ChaosSystem.pass(random, atLeast, atMost);
      process.resume();
      return runs;
    };
  }

  private static Event redisLink(Mode mode, int atLeast, int atMost) {
    return (system, random) -> system.breakRedisLink(random, mode, atLeast, atMost);
  }

  private static Event workerLink(Mode mode, int atLeast, int atMost) {
    return (system, random) -> system.breakWorkerLink(random, mode, atLeast, atMost);
  }

  private static Event registryLink(Mode mode, int atLeast, int atMost) {
    return (system, random) -> system.breakRegistryLink(random, mode, atLeast, atMost);
  }

  private static Event schedulerLink(Mode mode, int atLeast, int atMost) {
    return (system, random) -> system.breakSchedulerLink(random, mode, atLeast, atMost);
  }
}
