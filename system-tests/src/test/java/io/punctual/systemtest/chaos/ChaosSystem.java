package io.punctual.systemtest.chaos;

import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import io.punctual.systemtest.FaultyLink;
import io.punctual.systemtest.JavaProcess;
import io.punctual.systemtest.Programs;
import io.punctual.systemtest.Redeliveries;
import io.punctual.systemtest.RedisOptions;
import io.punctual.systemtest.Waiting;
import io.punctual.systemtest.worker.WorkerApplication;
import io.punctual.test.redis.RedisReplica;
import io.punctual.test.redis.RedisSentinels;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;

/**
 * Redis with a replica and Sentinels, a registry, schedulers and workers, each a process, each
 * behind a link that can break. The last scheduler has no link to Redis: it asks the Sentinels.
 */
final class ChaosSystem implements AutoCloseable {

  /** The task type of the jobs that are changed. */
  static final String CHANGED = "changed";

  // Longer than Redis is ever frozen or down, so that only REDIS_FAILS_OVER promotes the replica.
  private static final Duration DOWN_AFTER = Duration.ofSeconds(15);

  private final RedisSentinels sentinels = RedisSentinels.start(DOWN_AFTER);
  private final JavaProcess registry;
  private final List<FaultyLink> redisLinks = new ArrayList<>();
  private final List<FaultyLink> workerLinks = new ArrayList<>();
  private final List<FaultyLink> registryLinks = new ArrayList<>();
  private final List<FaultyLink> schedulerLinks = new ArrayList<>();
  private final List<JavaProcess> schedulers = new ArrayList<>();
  private final List<JavaProcess> workers = new ArrayList<>();
  private final Redeliveries redeliveries;
  private volatile RedisServer redis;
  private volatile RedisServer replica;

  /**
   * Starts all of it.
   *
   * @param record what the workers write down
   */
  ChaosSystem(
      Programs programs, String application, Path record, int schedulerCount, int workerCount) {
    redeliveries = new Redeliveries(application, WorkerApplication.TYPE);
    redis = sentinels.firstMaster();
    replica = sentinels.firstReplica();
    registry = programs.registry().start().awaitReady();
    for (int i = 0; i < schedulerCount; i++) {
      List<String> options = new ArrayList<>(List.of("--punctual.lease=5s", Audit.option()));
      int port = redis.port();
      if (i == schedulerCount - 1) {
        options.addAll(List.of(RedisOptions.of(sentinels)));
      } else {
        FaultyLink link = new FaultyLink().to(port);
        redisLinks.add(link);
        port = link.port();
      }
      JavaProcess scheduler =
          programs.scheduler(
              newRegistryLink().url(), port, application, options.toArray(String[]::new));
      schedulerLinks.add(new FaultyLink().to(scheduler.port()));
      schedulers.add(scheduler.start());
    }
    for (int i = 0; i < workerCount; i++) {
      FaultyLink link = new FaultyLink();
      workerLinks.add(link);
      JavaProcess worker =
          programs.worker(
              newRegistryLink().url(),
              application,
              record,
              "--eureka.instance.non-secure-port=" + link.port(),
              "--worker.senders=true",
              "--" + WorkerApplication.EXTRA + "=" + CHANGED);
      link.to(worker.port());
      workers.add(worker.start());
    }
    schedulers.forEach(JavaProcess::awaitReady);
    workers.forEach(JavaProcess::awaitReady);
  }

  private FaultyLink newRegistryLink() {
    FaultyLink link = new FaultyLink().to(registry.port());
    registryLinks.add(link);
    return link;
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

  /** How many workers there are. */
  int workers() {
    return workers.size();
  }

  /** Where producers reach the schedulers. */
  List<String> submitAddresses() {
    return schedulerLinks.stream().map(FaultyLink::url).toList();
  }

  JavaProcess anyScheduler(RandomGenerator random) {
    return schedulers.get(random.nextInt(schedulers.size()));
  }

  JavaProcess anyWorker(RandomGenerator random) {
    return workers.get(random.nextInt(workers.size()));
  }

  /** Lets the replica follow the primary, and waits until it has all that the primary has. */
  private void replicate() {
    try {
      RedisReplica.follow(replica, redis.port());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    awaitReplica();
  }

  private void awaitReplica() {
    Waiting.until(
        "the replica has all",
        () -> {
          long written = offset(redis, "master_repl_offset");
          return callRedis(replica, "INFO", "replication").contains("master_link_status:up")
              && offset(replica, "slave_repl_offset") >= written;
        });
  }

  private static long offset(RedisServer server, String name) {
    return callRedis(server, "INFO", "replication")
        .lines()
        .filter(line -> line.startsWith(name + ":"))
        .mapToLong(line -> Long.parseLong(line.substring(name.length() + 1).strip()))
        .findFirst()
        .orElse(-1);
  }

  /**
   * Kills the primary, has the Sentinels promote the replica, and starts the old primary as its
   * replica. Changes since the last look at the replica are lost if it has not confirmed them.
   */
  void failOver(RandomGenerator random) {
    awaitReplica();
    RedisServer old = redis;
    old.kill();
    pass(random, 0, 3);
    try {
      sentinels.failOver();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    redis = replica;
    redisLinks.forEach(link -> link.to(redis.port()));
    old.start();
    replica = old;
    replicate();
  }

  String callRedis(String... command) {
    return callRedis(redis, command);
  }

  private static String callRedis(RedisServer server, String... command) {
    try {
      return Resp.call(server.port(), command);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Breaks the way of one scheduler to Redis; answers the runs that this scheduler had sent. */
  Hit breakRedisLink(RandomGenerator random, FaultyLink.Mode mode, int atLeast, int atMost) {
    return runsOf(schedulers.get(breakLink(redisLinks, random, mode, atLeast, atMost)));
  }

  /** Breaks the way to one worker; answers the runs that this worker had. */
  Hit breakWorkerLink(RandomGenerator random, FaultyLink.Mode mode, int atLeast, int atMost) {
    return runsOf(workers.get(breakLink(workerLinks, random, mode, atLeast, atMost)));
  }

  /** Breaks the way of one scheduler or worker to the registry; no run is in its hands. */
  Hit breakRegistryLink(RandomGenerator random, FaultyLink.Mode mode, int atLeast, int atMost) {
    int number = breakLink(registryLinks, random, mode, atLeast, atMost);
    // The schedulers' come first.
    int worker = number - schedulers.size();
    return new Hit(
        (worker < 0 ? schedulers.get(number) : workers.get(worker)).toString(), run -> false);
  }

  /** Breaks the way of the producers to one scheduler; no run is in its hands. */
  Hit breakSchedulerLink(RandomGenerator random, FaultyLink.Mode mode, int atLeast, int atMost) {
    int number = breakLink(schedulerLinks, random, mode, atLeast, atMost);
    return new Hit(schedulers.get(number).toString(), run -> false);
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
  Hit runsOf(JavaProcess process) {
    if (workers.contains(process)) {
      long pid = process.pid();
      return new Hit(process.toString(), run -> run.process() == pid);
    }
    if (schedulers.contains(process)) {
      String name = "127.0.0.1:" + process.port();
      return new Hit(process.toString(), run -> run.senders().contains(name));
    }
    return new Hit(process.toString(), run -> false);
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
    schedulerLinks.forEach(FaultyLink::close);
    registryLinks.forEach(FaultyLink::close);
    workerLinks.forEach(FaultyLink::close);
    redisLinks.forEach(FaultyLink::close);
    sentinels.close();
  }
}
