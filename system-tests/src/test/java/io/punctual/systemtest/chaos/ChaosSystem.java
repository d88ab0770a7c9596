package io.punctual.systemtest.chaos;

import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import io.punctual.systemtest.FaultyLink;
import io.punctual.systemtest.JavaProcess;
import io.punctual.systemtest.Programs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;

/** Redis, a registry, schedulers and workers, each a process, each behind a link that can break. */
final class ChaosSystem implements AutoCloseable {

  private final RedisServer redis;
  private final JavaProcess registry;
  private final List<FaultyLink> redisLinks = new ArrayList<>();
  private final List<FaultyLink> workerLinks = new ArrayList<>();
  private final List<JavaProcess> schedulers = new ArrayList<>();
  private final List<JavaProcess> workers = new ArrayList<>();

  /**
   * Starts all of it.
   *
   * @param record what the workers write down
   */
  ChaosSystem(
      Programs programs, String application, Path record, int schedulerCount, int workerCount) {
    redis = RedisServer.startTemporary();
    registry = programs.registry().start().awaitReady();
    for (int i = 0; i < schedulerCount; i++) {
      FaultyLink link = new FaultyLink().to(redis.port());
      redisLinks.add(link);
      schedulers.add(
          programs.scheduler(registry, link.port(), application, "--punctual.lease=3s").start());
    }
    for (int i = 0; i < workerCount; i++) {
      FaultyLink link = new FaultyLink();
      workerLinks.add(link);
      JavaProcess worker =
          programs.worker(
              registry, application, record, "--eureka.instance.non-secure-port=" + link.port());
      link.to(worker.port());
      workers.add(worker.start());
    }
    schedulers.forEach(JavaProcess::awaitReady);
    workers.forEach(JavaProcess::awaitReady);
  }

  RedisServer redis() {
    return redis;
  }

  JavaProcess registry() {
    return registry;
  }

  List<JavaProcess> schedulers() {
    return schedulers;
  }

  JavaProcess anyScheduler(RandomGenerator random) {
    return schedulers.get(random.nextInt(schedulers.size()));
  }

  JavaProcess anyWorker(RandomGenerator random) {
    return workers.get(random.nextInt(workers.size()));
  }

  void callRedis(String... command) {
    try {
      Resp.call(redis.port(), command);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void breakRedisLink(RandomGenerator random, FaultyLink.Mode mode, int atLeast, int atMost) {
    breakLink(redisLinks, random, mode, atLeast, atMost);
  }

  void breakWorkerLink(RandomGenerator random, FaultyLink.Mode mode, int atLeast, int atMost) {
    breakLink(workerLinks, random, mode, atLeast, atMost);
  }

  private static void breakLink(
      List<FaultyLink> links,
      RandomGenerator random,
      FaultyLink.Mode mode,
      int atLeast,
      int atMost) {
    FaultyLink link = links.get(random.nextInt(links.size()));
    link.become(mode);
    pass(random, atLeast, atMost);
    link.become(FaultyLink.Mode.SOUND);
  }

  /** How long something stays broken is drawn, too; nothing is waited for. */
  static void pass(RandomGenerator random, int atLeastSeconds, int atMostSeconds) {
    LockSupport.parkNanos(
        random.nextLong(
            TimeUnit.SECONDS.toNanos(atLeastSeconds), TimeUnit.SECONDS.toNanos(atMostSeconds)));
  }

  /** Waits until all that was killed is there again. */
  void awaitWhole() {
    registry.awaitReady();
    schedulers.forEach(JavaProcess::awaitReady);
    workers.forEach(JavaProcess::awaitReady);
  }

  @Override
  public void close() {
    workers.forEach(JavaProcess::close);
    schedulers.forEach(JavaProcess::close);
    registry.close();
    workerLinks.forEach(FaultyLink::close);
    redisLinks.forEach(FaultyLink::close);
    redis.close();
  }
}
