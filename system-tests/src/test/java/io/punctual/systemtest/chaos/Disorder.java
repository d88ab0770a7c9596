package io.punctual.systemtest.chaos;

import io.punctual.systemtest.FaultyLink.Mode;
import java.util.random.RandomGenerator;

/** What is broken, and mended again after a while. */
enum Disorder {
  SCHEDULER_KILLED {
    @Override
    void happen(ChaosSystem system, RandomGenerator random) {
      var scheduler = system.anyScheduler(random);
      scheduler.kill();
      ChaosSystem.pass(random, 0, 2);
      scheduler.start();
    }
  },
  SCHEDULER_TOLD_TO_END {
    @Override
    void happen(ChaosSystem system, RandomGenerator random) {
      var scheduler = system.anyScheduler(random);
      scheduler.terminate();
      scheduler.start();
    }
  },
  SCHEDULER_FROZEN {
    @Override
    void happen(ChaosSystem system, RandomGenerator random) {
      var scheduler = system.anyScheduler(random);
      scheduler.suspend();
      // Its lease is over by then, and all that it held is with others.
      ChaosSystem.pass(random, 5, 8);
      scheduler.resume();
    }
  },
  WORKER_KILLED {
    @Override
    void happen(ChaosSystem system, RandomGenerator random) {
      var worker = system.anyWorker(random);
      worker.kill();
      ChaosSystem.pass(random, 0, 2);
      worker.start();
    }
  },
  WORKER_TOLD_TO_END {
    @Override
    void happen(ChaosSystem system, RandomGenerator random) {
      var worker = system.anyWorker(random);
      worker.terminate();
      worker.start();
    }
  },
  WORKER_FROZEN {
    @Override
    void happen(ChaosSystem system, RandomGenerator random) {
      var worker = system.anyWorker(random);
      worker.suspend();
      ChaosSystem.pass(random, 4, 8);
      worker.resume();
    }
  },
  REGISTRY_KILLED {
    @Override
    void happen(ChaosSystem system, RandomGenerator random) {
      system.registry().kill();
      ChaosSystem.pass(random, 0, 4);
      system.registry().start();
    }
  },
  REDIS_KILLED {
    @Override
    void happen(ChaosSystem system, RandomGenerator random) {
      system.redis().kill();
      ChaosSystem.pass(random, 0, 3);
      system.redis().start();
    }
  },
  REDIS_FROZEN {
    @Override
    void happen(ChaosSystem system, RandomGenerator random) {
      system.redis().suspend();
      ChaosSystem.pass(random, 1, 6);
      system.redis().resume();
    }
  },
  REDIS_FULL {
    @Override
    void happen(ChaosSystem system, RandomGenerator random) {
      system.callRedis("CONFIG", "SET", "maxmemory", "1");
      ChaosSystem.pass(random, 1, 4);
      system.callRedis("CONFIG", "SET", "maxmemory", "0");
    }
  },
  REDIS_FORGETS_SCRIPTS {
    @Override
    void happen(ChaosSystem system, RandomGenerator random) {
      system.callRedis("SCRIPT", "FLUSH");
    }
  },
  REDIS_DROPS_CONNECTIONS {
    @Override
    void happen(ChaosSystem system, RandomGenerator random) {
      system.callRedis("CLIENT", "KILL", "TYPE", "pubsub");
      system.callRedis("CLIENT", "KILL", "TYPE", "normal");
    }
  },
  LINK_TO_REDIS_SLOW {
    @Override
    void happen(ChaosSystem system, RandomGenerator random) {
      system.breakRedisLink(random, Mode.SLOW, 1, 4);
    }
  },
  LINK_TO_REDIS_HALF_OPEN {
    @Override
    void happen(ChaosSystem system, RandomGenerator random) {
      system.breakRedisLink(random, Mode.HALF_OPEN, 1, 6);
    }
  },
  LINK_TO_REDIS_DEAF {
    @Override
    void happen(ChaosSystem system, RandomGenerator random) {
      system.breakRedisLink(random, Mode.DEAF, 1, 4);
    }
  },
  LINK_TO_REDIS_CUT {
    @Override
    void happen(ChaosSystem system, RandomGenerator random) {
      system.breakRedisLink(random, Mode.CUT, 0, 4);
    }
  },
  LINK_TO_WORKER_SLOW {
    @Override
    void happen(ChaosSystem system, RandomGenerator random) {
      system.breakWorkerLink(random, Mode.SLOW, 1, 4);
    }
  },
  LINK_TO_WORKER_HALF_OPEN {
    @Override
    void happen(ChaosSystem system, RandomGenerator random) {
      system.breakWorkerLink(random, Mode.HALF_OPEN, 1, 6);
    }
  },
  LINK_TO_WORKER_DEAF {
    @Override
    void happen(ChaosSystem system, RandomGenerator random) {
      system.breakWorkerLink(random, Mode.DEAF, 1, 6);
    }
  },
  LINK_TO_WORKER_CUT {
    @Override
    void happen(ChaosSystem system, RandomGenerator random) {
      system.breakWorkerLink(random, Mode.CUT, 0, 4);
    }
  };

  abstract void happen(ChaosSystem system, RandomGenerator random);
}
