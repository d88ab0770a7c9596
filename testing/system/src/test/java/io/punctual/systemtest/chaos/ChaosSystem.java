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
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/**
 * Redis with a replica and Sentinels, a registry, schedulers, workers that are called and workers
 * that pull with the starter, each a process, each behind a link that can break. The last scheduler
 * has no link to Redis: it asks the Sentinels. The first puller reaches schedulers by their links,
 * the others as the registry says. Queues have {@value #BUCKETS} buckets.
 */
final class ChaosSystem implements AutoCloseable {

  /** The task type of the jobs that are changed. */
  static final String CHANGED = "changed";

  /** The task type of the jobs that are moved together. */
  static final String BULK = "bulk";

  /** The task type of the jobs that only pullers run. */
  static final String PULLED = "pulled";

  static final int BUCKETS = 2;
  // Longer than any fault lasts, also where an answer is told again to another scheduler.
  private static final String PULL_LEASE = "20s";
  private static final int PULL_CONCURRENCY = 20;
  // Of each kind, at a scheduler and at a worker.
  private static final int STRANGERS = 50;

  private static final String EXPOSED =
      "--management.endpoints.web.exposure.include=health,punctual";
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
  private final List<JavaProcess> pullers = new ArrayList<>();
  private final BulkMoves bulk;
  private final Redeliveries redeliveries;
  private volatile RedisServer redis;
  private volatile RedisServer replica;

  /**
   * Starts all of it.
   *
   * @param record what the workers write down
   */
  ChaosSystem(
      Programs programs,
      String application,
      Path record,
      int schedulerCount,
      int workerCount,
      int pullerCount) {
    redeliveries = new Redeliveries(application, WorkerApplication.TYPE);
    redis = sentinels.firstMaster();
    replica = sentinels.firstReplica();
    registry = programs.registry().start().awaitReady();
    for (int i = 0; i < schedulerCount; i++) {
      List<String> options =
          new ArrayList<>(
              List.of("--punctual.lease=5s", "--punctual.buckets=" + BUCKETS, Audit.option()));
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
    // Group by group: all at once take long, where processors are few.
    schedulers.forEach(JavaProcess::awaitReady);
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
              EXPOSED,
              "--" + WorkerApplication.EXTRA + "=" + CHANGED + "," + BULK);
      link.to(worker.port());
      workers.add(worker.start());
    }
    workers.forEach(JavaProcess::awaitReady);
    for (int i = 0; i < pullerCount; i++) {
      pullers.add(puller(programs, application, record, /* throughLinks= */ i == 0).start());
    }
    awaitWhole();
    bulk = new BulkMoves(application, BULK, submitAddresses());
  }

  private JavaProcess puller(
      Programs programs, String application, Path record, boolean throughLinks) {
    List<String> options =
        new ArrayList<>(
            List.of(
                "--punctual.delivery=pull",
                "--worker.pull-lease=" + PULL_LEASE,
                "--punctual.concurrency=" + PULL_CONCURRENCY,
                EXPOSED,
                "--" + WorkerApplication.OWN + "=" + PULLED,
                "--" + WorkerApplication.EXTRA + "=" + CHANGED));
    if (throughLinks) {
      options.add("--punctual.url=" + String.join(",", submitAddresses()));
    }
    return programs.worker(
        newRegistryLink().url(), application, record, options.toArray(String[]::new));
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

  /** The workers that are called. */
  List<JavaProcess> workers() {
    return workers;
  }

  /** The workers that pull with the starter. */
  List<JavaProcess> pullers() {
    return pullers;
  }

  /** The jobs that are moved together. */
  BulkMoves bulk() {
    return bulk;
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

  JavaProcess anyPuller(RandomGenerator random) {
    return pullers.get(random.nextInt(pullers.size()));
  }

  private List<JavaProcess> registered() {
    // In the order of their links to the registry.
    return Stream.of(schedulers, workers, pullers).flatMap(List::stream).toList();
  }

  /** Kills all workers that are called but one, and starts them again. */
  Hit killAllButOneWorker(RandomGenerator random) {
    JavaProcess survivor = anyWorker(random);
    List<JavaProcess> killed = workers.stream().filter(worker -> worker != survivor).toList();
    List<Hit> hits = killed.stream().map(this::runsOf).toList();
    killed.forEach(JavaProcess::kill);
    pass(random, 1, 4);
    killed.forEach(JavaProcess::start);
    return new Hit(killed.toString(), run -> hits.stream().anyMatch(hit -> hit.test(run)));
  }

  /** Ends the registry, and starts a scheduler, worker or puller again while it is away. */
  Hit startWithoutRegistry(RandomGenerator random) {
    List<JavaProcess> all = registered();
    JavaProcess process = all.get(random.nextInt(all.size()));
    Hit hit = runsOf(process);
    remember(process);
    registry.kill();
    process.terminate();
    process.start();
    pass(random, 2, 5);
    registry.start();
    return hit;
  }

  /**
   * Strangers open connections to a scheduler and a worker, send half of a head, or a head and half
   * of a body, and hold them.
   */
  Hit holdConnections(RandomGenerator random) {
    JavaProcess scheduler = anyScheduler(random);
    JavaProcess worker = anyWorker(random);
    List<Socket> open = new ArrayList<>();
    try {
      for (int i = 0; i < STRANGERS; i++) {
        open.add(stranger(scheduler, "GET /api/v1/queues HTTP/1.1\r\nHost: 127"));
        open.add(stranger(scheduler, half("/api/v1/jobs")));
        open.add(stranger(worker, "POST /punctual/callback HTTP/1.1\r\nHost: 127"));
        open.add(stranger(worker, half("/punctual/callback")));
      }
      pass(random, 2, 6);
    } catch (IOException e) {
      // That process is away; those that came through are held all the same.
      pass(random, 2, 6);
    } finally {
      open.forEach(ChaosSystem::close);
    }
    return new Hit(scheduler + " and " + worker, run -> false);
  }

  private static String half(String path) {
    return "POST "
        + path
        + " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        + "Content-Length: 20000\r\n\r\n"
        + " ".repeat(10_000);
  }

  private static Socket stranger(JavaProcess process, String bytes) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), process.port());
    socket.getOutputStream().write(bytes.getBytes(StandardCharsets.ISO_8859_1));
    return socket;
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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
    return new Hit(registered().get(number).toString(), run -> false);
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
    if (workers.contains(process) || pullers.contains(process)) {
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

  /** A moment before something is tried again. */
  static void pause() {
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
  }

  /** Waits until all that was killed is there again. */
  void awaitWhole() {
    registry.awaitReady();
    registered().forEach(JavaProcess::awaitReady);
  }

  @Override
  public void close() {
    bulk.close();
    pullers.forEach(JavaProcess::close);
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
