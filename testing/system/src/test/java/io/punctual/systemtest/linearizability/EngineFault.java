package io.punctual.systemtest.linearizability;

import io.punctual.redis.RedisServer;
import io.punctual.systemtest.EpochMicros;
import io.punctual.systemtest.FaultyLink;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;

/** What breaks in the middle of a run, and what may be lost by it. */
// What the lambdas hold are constants.
@SuppressWarnings("ImmutableEnumChecker")
enum EngineFault {
  NOTHING((run, random) -> {}),
  ENGINE_CRASHES((run, random) -> run.system().crash(random.nextInt(2))),
  ENGINE_IS_STOPPED((run, random) -> run.system().restart(random.nextInt(2))),
  CONNECTIONS_ARE_KILLED(
      (run, random) -> {
        for (int i = 0; i < 8; i++) {
          run.system().redis("CLIENT", "KILL", "TYPE", "normal");
          run.system().redis("CLIENT", "KILL", "TYPE", "pubsub");
          pass(random, 10, 60);
        }
      }),
  LINK_IS_CUT((run, random) -> breakLink(run, random, FaultyLink.Mode.CUT)),
  LINK_IS_HALF_OPEN((run, random) -> breakLink(run, random, FaultyLink.Mode.HALF_OPEN)),
  LINK_IS_DEAF((run, random) -> breakLink(run, random, FaultyLink.Mode.DEAF)),
  LINK_IS_SLOW((run, random) -> breakLink(run, random, FaultyLink.Mode.SLOW)),
  REDIS_IS_KILLED(
      (run, random) -> {
        run.system().primary().kill();
        pass(random, 0, 200);
        run.system().primary().start();
      }),
  REDIS_STANDS_STILL(
      (run, random) -> {
        run.system().primary().suspend();
        pass(random, 300, 1400);
        run.system().primary().resume();
      }),
  REDIS_TAKES_NO_WRITES(
      (run, random) -> {
        run.system().redis("CLIENT", "PAUSE", "300", random.nextBoolean() ? "WRITE" : "ALL");
        pass(random, 300, 400);
      }),
  SCRIPTS_ARE_FLUSHED(
      (run, random) -> {
        for (int i = 0; i < 50; i++) {
          run.system().redis("SCRIPT", "FLUSH");
          pass(random, 1, 6);
        }
      }),
  REDIS_IS_EMPTIED(
      (run, random) -> {
        long begun = EpochMicros.now();
        run.system().redis("FLUSHALL");
        run.recorder().lost(new Action.Emptied(), begun);
      }),
  /** Its copy of an earlier time takes the place of Redis. */
  REDIS_IS_OLDER(
      (run, random) -> {
        long asOf = run.system().awaitReplica();
        run.system().replication().become(FaultyLink.Mode.HALF_OPEN);
        pass(random, 200, 500);
        failOver(run, new Action.Loss(asOf, false), RedisServer::kill);
      }),
  REPLICA_TAKES_OVER(
      (run, random) -> {
        // How far behind it is, it knows alone.
        failOver(run, new Action.Loss(run.begun(), true), RedisServer::kill);
      }),
  REPLICA_TAKES_OVER_LATE(
      (run, random) -> {
        long asOf = run.system().awaitReplica();
        run.system().replication().become(FaultyLink.Mode.HALF_OPEN);
        pass(random, 200, 700);
        failOver(run, new Action.Loss(asOf, true), RedisServer::kill);
      }),
  REPLICA_TAKES_OVER_FROM_A_FROZEN_PRIMARY(
      (run, random) -> {
        run.system().replication().become(FaultyLink.Mode.SLOW);
        pass(random, 100, 300);
        RedisServer frozen = run.system().primary();
        failOver(run, new Action.Loss(run.begun(), true), RedisServer::suspend);
        frozen.resume();
      });

  private interface Event {
    void in(EngineRun run, RandomGenerator random) throws Exception;
  }

  private interface End {
    void of(RedisServer primary);
  }

  private final Event event;

  EngineFault(Event event) {
    this.event = event;
  }

  void happen(EngineRun run, RandomGenerator random) throws Exception {
    event.in(run, random);
  }

  boolean needsReplica() {
    return name().startsWith("REPLICA") || this == REDIS_IS_OLDER;
  }

  private static void failOver(EngineRun run, Action.Loss loss, End end) throws Exception {
    long begun = EpochMicros.now();
    end.of(run.system().primary());
    run.system().promote();
    run.recorder().lost(loss, begun);
  }

  private static void breakLink(EngineRun run, RandomGenerator random, FaultyLink.Mode mode) {
    FaultyLink link = run.system().links().get(random.nextInt(2));
    link.become(mode);
    pass(random, 200, 700);
    link.become(FaultyLink.Mode.SOUND);
  }

  static void pass(RandomGenerator random, int atLeast, int atMost) {
    LockSupport.parkNanos(
        random.nextLong(
            TimeUnit.MILLISECONDS.toNanos(atLeast), TimeUnit.MILLISECONDS.toNanos(atMost) + 1));
  }
}
