package io.punctual.systemtest.chaos;

import io.punctual.systemtest.Execution;
import io.punctual.systemtest.Fault;
import io.punctual.systemtest.Fault.Effect;
import io.punctual.systemtest.FaultyLink.Mode;
import io.punctual.systemtest.JavaProcess;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;

/**
 * What is broken, and mended again after a while, and what can come of it. Numbers are seconds, at
 * least and at most.
 */
// What the lambdas hold are constants.
@SuppressWarnings("ImmutableEnumChecker")
enum Disorder {
  SCHEDULER_KILLED(Effect.REPEATS, killed(ChaosSystem::anyScheduler, 2)),
  // In good order: it waits for the answers.
  SCHEDULER_TOLD_TO_END(Effect.NONE, toldToEnd(ChaosSystem::anyScheduler)),
  // Its lease is over by then, and all that it held is with others.
  SCHEDULER_FROZEN(Effect.REPEATS, frozen(ChaosSystem::anyScheduler, 5, 8)),
  WORKER_KILLED(Effect.REPEATS, killed(ChaosSystem::anyWorker, 2)),
  WORKER_TOLD_TO_END(Effect.NONE, toldToEnd(ChaosSystem::anyWorker)),
  // Less than a job's time to run: schedulers wait for it.
  WORKER_FROZEN(Effect.DELAYS, frozen(ChaosSystem::anyWorker, 4, 8)),
  REGISTRY_KILLED(Effect.NONE, killed((system, random) -> system.registry(), 4)),
  REDIS_KILLED(
      Effect.REPEATS,
      redis(
          (system, random) -> {
            system.redis().kill();
            ChaosSystem.pass(random, 0, 3);
            system.redis().start();
          })),
  REDIS_FROZEN(
      Effect.REPEATS,
      redis(
          (system, random) -> {
            system.redis().suspend();
            ChaosSystem.pass(random, 1, 6);
            system.redis().resume();
          })),
  // Submits are refused, claims and the ends of attempts are not.
  REDIS_FULL(
      Effect.NONE,
      redis(
          (system, random) -> {
            system.callRedis("CONFIG", "SET", "maxmemory", "1");
            ChaosSystem.pass(random, 1, 4);
            system.callRedis("CONFIG", "SET", "maxmemory", "0");
          })),
  REDIS_FORGETS_SCRIPTS(
      Effect.NONE, redis((system, random) -> system.callRedis("SCRIPT", "FLUSH"))),
  // What was sent is sent again.
  REDIS_DROPS_CONNECTIONS(
      Effect.DELAYS,
      redis(
          (system, random) -> {
            system.callRedis("CLIENT", "KILL", "TYPE", "pubsub");
            system.callRedis("CLIENT", "KILL", "TYPE", "normal");
          })),
  LINK_TO_REDIS_SLOW(Effect.DELAYS, redisLink(Mode.SLOW, 1, 4)),
  LINK_TO_REDIS_HALF_OPEN(Effect.REPEATS, redisLink(Mode.HALF_OPEN, 1, 6)),
  LINK_TO_REDIS_DEAF(Effect.REPEATS, redisLink(Mode.DEAF, 1, 4)),
  LINK_TO_REDIS_CUT(Effect.REPEATS, redisLink(Mode.CUT, 0, 4)),
  LINK_TO_WORKER_SLOW(Effect.DELAYS, workerLink(Mode.SLOW, 1, 4)),
  LINK_TO_WORKER_HALF_OPEN(Effect.REPEATS, workerLink(Mode.HALF_OPEN, 1, 6)),
  LINK_TO_WORKER_DEAF(Effect.REPEATS, workerLink(Mode.DEAF, 1, 6)),
  LINK_TO_WORKER_CUT(Effect.REPEATS, workerLink(Mode.CUT, 0, 4));

  private interface Event {
    /** Happens; answers which runs were in the hands of what it broke. */
    Predicate<Execution> in(ChaosSystem system, RandomGenerator random);
  }

  private interface Whole {
    void in(ChaosSystem system, RandomGenerator random);
  }

  private interface Choice extends BiFunction<ChaosSystem, RandomGenerator, JavaProcess> {}

  private final Effect effect;
  private final Event event;

  Disorder(Effect effect, Event event) {
    this.effect = effect;
    this.event = event;
  }

  Fault happen(ChaosSystem system, RandomGenerator random) {
    return Fault.of(toString(), effect, () -> event.in(system, random));
  }

  /** Whether schedulers live on, and reach Redis. */
  boolean sparesSchedulers() {
    return this == WORKER_KILLED
        || this == WORKER_TOLD_TO_END
        || this == WORKER_FROZEN
        || this == REGISTRY_KILLED
        || this == LINK_TO_WORKER_SLOW
        || this == LINK_TO_WORKER_HALF_OPEN
        || this == LINK_TO_WORKER_DEAF
        || this == LINK_TO_WORKER_CUT;
  }

  /** Every job is in Redis. */
  private static Event redis(Whole event) {
    return (system, random) -> {
      event.in(system, random);
      return run -> true;
    };
  }

  private static Event killed(Choice choice, int atMost) {
    return (system, random) -> {
      JavaProcess process = choice.apply(system, random);
      Predicate<Execution> runs = system.runsOf(process);
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
      Predicate<Execution> runs = system.runsOf(process);
      system.remember(process);
      process.terminate();
      process.start();
      return runs;
    };
  }

  private static Event frozen(Choice choice, int atLeast, int atMost) {
    return (system, random) -> {
      JavaProcess process = choice.apply(system, random);
      Predicate<Execution> runs = system.runsOf(process);
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
}
