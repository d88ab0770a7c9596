package io.punctual.systemtest.linearizability;

import io.punctual.core.Engine;
import io.punctual.core.EngineOptions;
import io.punctual.core.runtime.Engines;
import io.punctual.core.store.Store;
import io.punctual.core.store.durability.Durability;
import io.punctual.core.store.redis.RedisStore;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import io.punctual.systemtest.EpochMicros;
import io.punctual.systemtest.FaultyLink;
import io.punctual.systemtest.Waiting;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import redis.clients.jedis.ConnectionPoolConfig;

/**
 * Engines of this JVM, each with a way of its own to a Redis that may have a replica; that way may
 * break, and the replica may fall behind.
 */
final class EngineSystem implements AutoCloseable {

  private static final int ENGINES = 2;
  private static final int BUCKETS = 2;
  private static final Duration CONNECT = Duration.ofMillis(200);
  private static final Duration READ = Duration.ofMillis(500);
  private static final Duration PATIENT_READ = Duration.ofSeconds(10);
  private static final Duration CONFIRM = Duration.ofMillis(200);
  private static final int CONNECTIONS = 16;

  private final Durability durability;
  private final AtomicBoolean ended = new AtomicBoolean();
  private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(2);
  private final FaultyLink replication = new FaultyLink();
  private final List<RedisServer> servers = new ArrayList<>();
  private final List<FaultyLink> links = new ArrayList<>();
  private final List<JedisConnectionFactory> connections = new ArrayList<>();
  private final List<EngineWorker> workers = new ArrayList<>();
  private final List<Engine> engines = new ArrayList<>();
  private final List<Thread> pullers = new ArrayList<>();
  private volatile RedisServer primary;

  /**
   * Starts all of it.
   *
   * @param durability as in the property {@code punctual.durability}
   * @param replica whether Redis has one
   * @param patient whether engines wait for Redis as long as a busy machine may take
   */
  EngineSystem(Recorder recorder, long seed, String durability, boolean replica, boolean patient)
      throws IOException {
    this.durability = Durability.parse(durability, CONFIRM);
    this.primary = RedisServer.startTemporary("--repl-diskless-sync-delay", "0");
    servers.add(primary);
    if (replica) {
      replication.to(primary.port());
      RedisServer copy =
          RedisServer.startTemporary(
              "--replicaof", "127.0.0.1", Integer.toString(replication.port()));
      servers.add(copy);
      Waiting.until("the replica is in step", () -> inStep(offset(primary)));
    }
    for (int i = 0; i < ENGINES; i++) {
      FaultyLink link = new FaultyLink().to(primary.port());
      links.add(link);
      connections.add(connect(link.port(), patient ? PATIENT_READ : READ));
      int number = i;
      workers.add(
          new EngineWorker("engine-" + i, recorder, seed + i, timer, () -> engine(number), ended));
      engines.add(newEngine(i));
    }
    for (EngineWorker worker : workers) {
      pullers.add(Thread.ofVirtual().start(worker));
    }
  }

  private static JedisConnectionFactory connect(int port, Duration read) {
    ConnectionPoolConfig pool = new ConnectionPoolConfig();
    pool.setMaxTotal(CONNECTIONS);
    pool.setMaxIdle(CONNECTIONS);
    JedisConnectionFactory factory =
        new JedisConnectionFactory(
            new RedisStandaloneConfiguration("127.0.0.1", port),
            JedisClientConfiguration.builder()
                .connectTimeout(CONNECT)
                .readTimeout(read)
                .usePooling()
                .poolConfig(pool)
                .build());
    factory.afterPropertiesSet();
    factory.start();
    return factory;
  }

  private Engine newEngine(int number) {
    Store store =
        RedisStore.connect(
            connections.get(number), new StoreOptions("lives", Duration.ofMinutes(10), durability));
    Engine engine =
        Engines.create(
            store,
            EngineOptions.defaults("engine-" + number)
                .with()
                .lease(EngineWorker.LEASE)
                .buckets(BUCKETS)
                .build(),
            workers.get(number));
    engine.start();
    return engine;
  }

  /** The engine that is there now. */
  Engine engine(int number) {
    synchronized (engines) {
      return engines.get(number);
    }
  }

  /** All engines, as clients see them. */
  List<JobCalls> calls() {
    List<JobCalls> all = new ArrayList<>();
    for (int i = 0; i < ENGINES; i++) {
      int number = i;
      all.add(
          new EngineCalls(() -> engine(number), durability.level() == Durability.Level.REPLICATED));
    }
    return all;
  }

  List<FaultyLink> links() {
    return links;
  }

  FaultyLink replication() {
    return replication;
  }

  RedisServer primary() {
    return primary;
  }

  /** An engine ends without a word, and another one starts in its place. */
  void crash(int number) {
    engine(number).close();
    synchronized (engines) {
      engines.set(number, newEngine(number));
    }
  }

  /** An engine is told to end, and another one starts in its place. */
  void restart(int number) {
    engine(number).stop(Duration.ofMillis(100));
    synchronized (engines) {
      engines.set(number, newEngine(number));
    }
  }

  void redis(String... command) {
    try {
      Resp.call(primary.port(), command);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  /** The replica has all that was answered before the time that this answers, epoch µs. */
  long awaitReplica() throws IOException {
    long asOf = EpochMicros.now();
    long offset = offset(primary);
    Waiting.until("the replica is in step", () -> inStep(offset));
    return asOf;
  }

  private static long offset(RedisServer server) throws IOException {
    return Long.parseLong(field(server, "master_repl_offset:"));
  }

  private boolean inStep(long offset) throws IOException {
    RedisServer replica = servers.get(1);
    return field(replica, "master_link_status:").equals("up")
        && Long.parseLong(field(replica, "slave_repl_offset:")) >= offset;
  }

  private static String field(RedisServer server, String name) throws IOException {
    return Resp.call(server.port(), "INFO", "replication")
        .lines()
        .filter(line -> line.startsWith(name))
        .map(line -> line.substring(name.length()).strip())
        .findFirst()
        .orElse("");
  }

  /** The replica becomes the primary, and all engines are led there. */
  void promote() throws IOException {
    RedisServer replica = servers.get(1);
    links.forEach(link -> link.become(FaultyLink.Mode.CUT));
    replication.become(FaultyLink.Mode.CUT);
    Resp.call(replica.port(), "REPLICAOF", "NO", "ONE");
    primary = replica;
    for (FaultyLink link : links) {
      link.to(replica.port());
      link.become(FaultyLink.Mode.SOUND);
    }
  }

  /** From now on all jobs are done. */
  void endAllWell() {
    workers.forEach(EngineWorker::endsAllWell);
  }

  /** Ends the pulling. */
  void stopPulling() throws InterruptedException {
    ended.set(true);
    for (Thread puller : pullers) {
      puller.join();
    }
  }

  @Override
  public void close() {
    ended.set(true);
    engines.forEach(Engine::close);
    timer.shutdownNow();
    links.forEach(FaultyLink::close);
    connections.forEach(JedisConnectionFactory::destroy);
    replication.close();
    servers.forEach(RedisServer::close);
  }
}
