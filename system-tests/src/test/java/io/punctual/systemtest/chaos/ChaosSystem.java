package io.punctual.systemtest.chaos;

import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import io.punctual.systemtest.Execution;
import io.punctual.systemtest.FaultyLink;
import io.punctual.systemtest.JavaProcess;
import io.punctual.systemtest.Programs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;

/** Redis, a registry, schedulers and workers, each a process, each behind a link that can break. */
final class ChaosSystem implements AutoCloseable {

  private final RedisServer redis;
  private final JavaProcess registry;
  private final List<FaultyLink> redisLinks = new ArrayList<>();
  private final List<FaultyLink> workerLinks = new ArrayList<>();
  private final List<JavaProcess> schedulers = new ArrayList<>();
  private final List<JavaProcess> workers = new ArrayList<>();
  private final Redeliveries redeliveries;

  /**
   * Starts all of it.
   *
   * @param record what the workers write down
   */
  ChaosSystem(
      Programs programs, String application, Path record, int schedulerCount, int workerCount) {
    redeliveries = new Redeliveries(application);
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
              registry,
              application,
              record,
              "--eureka.instance.non-secure-port=" + link.port(),
              "--worker.senders=true");
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

  /** Breaks the way of one scheduler to Redis; answers the runs that this scheduler had sent. */
  Predicate<Execution> breakRedisLink(
      RandomGenerator random, FaultyLink.Mode mode, int atLeast, int atMost) {
    return runsOf(schedulers.get(breakLink(redisLinks, random, mode, atLeast, atMost)));
  }

  /** Breaks the way to one worker; answers the runs that this worker had. */
  Predicate<Execution> breakWorkerLink(
      RandomGenerator random, FaultyLink.Mode mode, int atLeast, int atMost) {
    return runsOf(workers.get(breakLink(workerLinks, random, mode, atLeast, atMost)));
  }

  private static int breakLink(
      List<FaultyLink> links,
      RandomGenerator random,
      FaultyLink.Mode mode,
      int atLeast,
      int atMost) {
    int number = random.nextInt(links.size());
    FaultyLink link = links.get(number);
    link.become(mode);
    pass(random, atLeast, atMost);
    link.become(FaultyLink.Mode.SOUND);
    return number;
  }

  /**
   * The runs that a process has in its hands: those in a worker as it was started last, those that
   * a scheduler had sent, none for others.
   */
  Predicate<Execution> runsOf(JavaProcess process) {
    if (workers.contains(process)) {
      long pid = process.pid();
      return run -> run.process() == pid;
    }
    if (schedulers.contains(process)) {
      String name = "127.0.0.1:" + process.port();
      return run -> run.senders().contains(name);
    }
    return run -> false;
  }

  /** Remembers what a scheduler has counted, for it forgets that when it ends. */
  void remember(JavaProcess process) {
    if (schedulers.contains(process)) {
      redeliveries.add(process);
    }
  }

  /** What all schedulers have counted, as far as they could be asked before they ended. */
  Map<String, Integer> redeliveries() {
    schedulers.forEach(redeliveries::add);
    return redeliveries.byCause();
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
