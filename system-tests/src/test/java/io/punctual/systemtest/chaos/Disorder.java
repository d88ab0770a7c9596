package io.punctual.systemtest.chaos;

import io.punctual.systemtest.FaultyLink.Mode;
import io.punctual.systemtest.JavaProcess;
import java.util.function.BiFunction;
import java.util.random.RandomGenerator;

/** What is broken, and mended again after a while. Numbers are seconds, at least and at most. */
// What the lambdas hold are constants.
@SuppressWarnings("ImmutableEnumChecker")
enum Disorder {
  SCHEDULER_KILLED(killed(ChaosSystem::anyScheduler, 2)),
  SCHEDULER_TOLD_TO_END(toldToEnd(ChaosSystem::anyScheduler)),
  // Its lease is over by then, and all that it held is with others.
  SCHEDULER_FROZEN(frozen(ChaosSystem::anyScheduler, 5, 8)),
  WORKER_KILLED(killed(ChaosSystem::anyWorker, 2)),
  WORKER_TOLD_TO_END(toldToEnd(ChaosSystem::anyWorker)),
  WORKER_FROZEN(frozen(ChaosSystem::anyWorker, 4, 8)),
  REGISTRY_KILLED(killed((system, random) -> system.registry(), 4)),
  REDIS_KILLED(
      (system, random) -> {
        system.redis().kill();
        ChaosSystem.pass(random, 0, 3);
        system.redis().start();
      }),
  REDIS_FROZEN(
      (system, random) -> {
        system.redis().suspend();
        ChaosSystem.pass(random, 1, 6);
        system.redis().resume();
      }),
  REDIS_FULL(
      (system, random) -> {
        system.callRedis("CONFIG", "SET", "maxmemory", "1");
        ChaosSystem.pass(random, 1, 4);
        system.callRedis("CONFIG", "SET", "maxmemory", "0");
      }),
  REDIS_FORGETS_SCRIPTS((system, random) -> system.callRedis("SCRIPT", "FLUSH")),
  REDIS_DROPS_CONNECTIONS(
      (system, random) -> {
        system.callRedis("CLIENT", "KILL", "TYPE", "pubsub");
        system.callRedis("CLIENT", "KILL", "TYPE", "normal");
      }),
  LINK_TO_REDIS_SLOW(redisLink(Mode.SLOW, 1, 4)),
  LINK_TO_REDIS_HALF_OPEN(redisLink(Mode.HALF_OPEN, 1, 6)),
  LINK_TO_REDIS_DEAF(redisLink(Mode.DEAF, 1, 4)),
  LINK_TO_REDIS_CUT(redisLink(Mode.CUT, 0, 4)),
  LINK_TO_WORKER_SLOW(workerLink(Mode.SLOW, 1, 4)),
  LINK_TO_WORKER_HALF_OPEN(workerLink(Mode.HALF_OPEN, 1, 6)),
  LINK_TO_WORKER_DEAF(workerLink(Mode.DEAF, 1, 6)),
  LINK_TO_WORKER_CUT(workerLink(Mode.CUT, 0, 4));

  private interface Event {
    void in(ChaosSystem system, RandomGenerator random);
  }

  private interface Choice extends BiFunction<ChaosSystem, RandomGenerator, JavaProcess> {}

  private final Event event;

  Disorder(Event event) {
    this.event = event;
  }

  void happen(ChaosSystem system, RandomGenerator random) {
    event.in(system, random);
  }

  private static Event killed(Choice choice, int atMost) {
    return (system, random) -> {
      JavaProcess process = choice.apply(system, random);
      process.kill();
      ChaosSystem.pass(random, 0, atMost);
      process.start();
    };
  }

  private static Event toldToEnd(Choice choice) {
    return (system, random) -> {
      JavaProcess process = choice.apply(system, random);
      process.terminate();
      process.start();
    };
  }

  private static Event frozen(Choice choice, int atLeast, int atMost) {
    return (system, random) -> {
      JavaProcess process = choice.apply(system, random);
      process.suspend();
      ChaosSystem.pass(random, atLeast, atMost);
      process.resume();
    };
  }

  private static Event redisLink(Mode mode, int atLeast, int atMost) {
    return (system, random) -> system.breakRedisLink(random, mode, atLeast, atMost);
  }

  private static Event workerLink(Mode mode, int atLeast, int atMost) {
    return (system, random) -> system.breakWorkerLink(random, mode, atLeast, atMost);
  }
}
