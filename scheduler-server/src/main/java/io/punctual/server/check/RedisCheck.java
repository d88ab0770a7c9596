package io.punctual.server.check;

import io.punctual.core.Engine;
import io.punctual.core.EngineOptions;
import io.punctual.core.runtime.Engines;
import io.punctual.core.store.Store;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.durability.StoreNode;
import io.punctual.core.store.redis.RedisStore;
import io.punctual.core.store.redis.StoreKeys;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.server.check.Table.Result;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

/** One check of one server or cluster. Removes what it made when it is closed. */
final class RedisCheck implements AutoCloseable {

  /** The server cannot be asked at all, or must not be. */
  static final class ImpossibleException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ImpossibleException(String message) {
      super(message);
    }
  }

  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final int ROUNDS = 5;

  private final RedisUrl url;
  private final String prefix;
  private final Table table;
  private final boolean cluster;
  private final String product;
  private final JedisConnectionFactory connections;
  private final UnifiedJedis server;
  private final StoreKeys keys;
  private @Nullable Store store;
  private @Nullable Engine engine;
  private @Nullable Inbox inbox;
  private boolean made;

  /**
   * Connects.
   *
   * @param wanted whether it is a cluster whatever the server says
   * @param prefix of all keys, as {@link StoreOptions} allows it
   * @throws ImpossibleException if that fails, or there are such keys already
   */
  RedisCheck(RedisUrl url, boolean wanted, String prefix, Table table) {
    this.url = url;
    this.prefix = prefix;
    this.table = table;
    JedisConnectionFactory single = single(url);
    Properties info;
    try (RedisConnection connection = single.getConnection()) {
      info = info(connection);
    } catch (DataAccessException | JedisException e) {
      single.destroy();
      throw unreached(e);
    }
    cluster =
        wanted
            || info.getProperty("cluster_enabled", "0").equals("1")
            || info.getProperty("redis_mode", "").equals("cluster");
    product = product(info);
    if (cluster) {
      single.destroy();
      if (url.database() != 0) {
        throw new ImpossibleException(
            "A cluster has only database 0: remove /" + url.database() + " from the URL.");
      }
      connections = new JedisConnectionFactory(clusterAt(url), client(url));
    } else {
      connections = single;
    }
    server = driver(connections);
    keys = new StoreKeys(connections, prefix, Moves.buckets());
  }

  private static JedisConnectionFactory single(RedisUrl url) {
    RedisStandaloneConfiguration server = new RedisStandaloneConfiguration(url.host(), url.port());
    server.setDatabase(url.database());
    if (!url.user().isEmpty()) {
      server.setUsername(url.user());
    }
    if (!url.password().isEmpty()) {
      server.setPassword(url.password());
    }
    return started(new JedisConnectionFactory(server, client(url)));
  }

  private static RedisClusterConfiguration clusterAt(RedisUrl url) {
    RedisClusterConfiguration servers = new RedisClusterConfiguration();
    servers.addClusterNode(new RedisNode(url.host(), url.port()));
    if (!url.user().isEmpty()) {
      servers.setUsername(url.user());
    }
    if (!url.password().isEmpty()) {
      servers.setPassword(url.password());
    }
    return servers;
  }

  private static JedisClientConfiguration client(RedisUrl url) {
    JedisClientConfiguration.JedisClientConfigurationBuilder builder =
        JedisClientConfiguration.builder().connectTimeout(PATIENCE).readTimeout(PATIENCE);
    if (url.tls()) {
      SSLParameters parameters = new SSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      builder.useSsl().sslParameters(parameters);
    }
    return builder.usePooling().build();
  }

  private static JedisConnectionFactory started(JedisConnectionFactory factory) {
    factory.afterPropertiesSet();
    factory.start();
    return factory;
  }

  private UnifiedJedis driver(JedisConnectionFactory factory) {
    try (RedisConnection connection = started(factory).getConnection()) {
      return (UnifiedJedis) connection.getNativeConnection();
    } catch (DataAccessException | JedisException e) {
      factory.destroy();
      throw new ImpossibleException(
          "The cluster at "
              + url
              + " cannot be used: "
              + reason(e)
              + ". See whether the server is a node of a cluster, the user may call CLUSTER SLOTS,"
              + " and this machine reaches the addresses that it names.");
    }
  }

  // A server that refuses INFO was reached all the same.
  private static Properties info(RedisConnection connection) {
    try {
      Properties info = connection.serverCommands().info();
      return info == null ? new Properties() : info;
    } catch (DataAccessException | JedisException e) {
      if (CommandProbes.isRefusal(e)) {
        return new Properties();
      }
      throw e;
    }
  }

  // Those that speak Redis's protocol name the version of Redis that they follow, and their own.
  private static String product(Properties info) {
    for (String name : List.of("valkey", "dragonfly", "keydb")) {
      String version = info.getProperty(name + "_version");
      if (version != null) {
        return name + " " + version + " as Redis " + info.getProperty("redis_version", "unknown");
      }
    }
    return "Redis " + info.getProperty("redis_version", "of unknown version");
  }

  private static boolean isLogin(String reason) {
    return reason.matches("(?is).*(NOAUTH|WRONGPASS|invalid.*password|without any password).*");
  }

  // The driver tries several addresses, and adds why each was of no use.
  private String reason(RuntimeException e) {
    StringBuilder reason = new StringBuilder(CommandProbes.reason(e));
    for (Throwable t = e; t != null; t = t.getCause()) {
      for (Throwable suppressed : t.getSuppressed()) {
        reason.append(": ").append(CommandProbes.reason(suppressed));
      }
    }
    String said = reason.toString().replaceAll("\\.(?=:|$)", "");
    return url.password().isEmpty() ? said : said.replace(url.password(), "***");
  }

  private ImpossibleException unreached(RuntimeException e) {
    String said = reason(e);
    if (isLogin(said)) {
      return new ImpossibleException(
          url + " refuses the login: " + said + ". Correct user and password of the URL.");
    }
    return new ImpossibleException(
        url
            + " cannot be used: "
            + said
            + ". Correct host, port and database, see whether the server runs and the network lets this"
            + " machine through, and "
            + (url.tls()
                ? "whether the server speaks TLS with a certificate that this Java trusts"
                    + " (-Djavax.net.ssl.trustStore=...)."
                : "whether the server needs TLS (rediss://)."));
  }

  /** Which server it is. */
  @Override
  public String toString() {
    return product + (cluster ? ", cluster" : ", standalone") + ", at " + url;
  }

  /**
   * Tries all.
   *
   * @return the commands that were tried
   */
  List<String> run() throws InterruptedException {
    table.heading("Commands");
    CommandProbes probes = new CommandProbes(server, cluster, url.user(), prefix, table);
    Store opened = RedisStore.connect(connections, new StoreOptions(prefix, Duration.ofMinutes(1)));
    store = opened;
    if (probes.readOnly()) {
      if (!keys.present(Set.of(""), CommandProbes.keys(prefix)).isEmpty()) {
        throw new ImpossibleException(
            "There are keys that begin with " + prefix + " already. None was touched; try again.");
      }
      made = true;
      probes.all();
    }
    boolean complete = table.failures() == 0;
    table.heading("Settings");
    settings(opened);
    table.heading("Jobs");
    if (complete) {
      jobs(opened);
    } else {
      table.add(Result.SKIPPED, "moves of jobs", "not tried: they need what failed above");
    }
    return probes.called();
  }

  private void settings(Store opened) {
    try {
      List<StoreNode> nodes = opened.inspector().nodes();
      for (StoreNode node : nodes) {
        table.add(Result.OK, node.address(), described(node));
        for (StoreNode.Finding finding : node.findings()) {
          table.add(finding.unsafe() ? Result.FAIL : Result.NOTE, "", finding.text());
        }
      }
    } catch (StoreException e) {
      table.add(Result.NOTE, "settings", "unknown: " + e.getMessage());
    }
  }

  private static String described(StoreNode node) {
    String keeps =
        switch (node.persistence()) {
          case UNKNOWN -> "persistence not shown";
          case NO_LOG -> "no append-only file";
          case NOTHING -> "keeps nothing on disk";
          case SNAPSHOTS -> "snapshots, no append-only file";
          case LAZY_LOG -> "append-only file, appendfsync no";
          case LOG -> "append-only file, appendfsync everysec or not shown";
          case SYNCED_LOG -> "append-only file, appendfsync always";
        };
    return "Redis "
        + node.version()
        + ", replicas: "
        + node.replicas()
        + ", maxmemory-policy "
        + (node.evictionPolicy() == null ? "not shown" : node.evictionPolicy())
        + ", "
        + keeps;
  }

  private void jobs(Store opened) throws InterruptedException {
    Inbox deliveries = new Inbox(Moves.PULLED);
    inbox = deliveries;
    EngineOptions options =
        EngineOptions.defaults("check-redis")
            .with()
            .lease(Moves.LEASE)
            .buckets(Moves.BUCKETS)
            .newStoreExpected(true)
            .build();
    Engine started = Engines.create(opened, options, deliveries);
    engine = started;
    started.start();
    new Moves(started, opened.jobs(), deliveries, table).all();
    try {
      opened
          .inspector()
          .replicas()
          .forEach(finding -> table.add(Result.NOTE, "replicas", finding.text()));
    } catch (StoreException e) {
      table.add(Result.NOTE, "replicas", String.valueOf(e.getMessage()));
    }
  }

  /** Stops, and removes all keys that it made. Says so in the table, also if it could not. */
  @Override
  public void close() {
    try {
      if (inbox != null) {
        inbox.close();
      }
      if (engine != null) {
        engine.stop(PATIENCE);
      }
    } finally {
      try {
        if (made) {
          table.heading("Clean-up");
          remove();
        }
      } finally {
        connections.destroy();
      }
    }
  }

  private void remove() {
    Set<String> marks = store == null ? Set.of("") : store.epoch().marks();
    Collection<String> probed = CommandProbes.keys(prefix);
    List<String> left = List.of();
    String problem = "";
    for (int i = 0; i < ROUNDS; i++) {
      try {
        problem = "";
        keys.remove(marks, probed);
        pause();
        left = keys.present(marks, probed);
        if (left.isEmpty()) {
          table.add(Result.OK, "keys of the check", "removed, none is left");
          return;
        }
      } catch (StoreException e) {
        problem = " (" + e.getMessage() + ")";
        pause();
      }
    }
    table.add(
        Result.FAIL,
        "keys of the check",
        "could not be removed"
            + problem
            + ". Remove "
            + (left.isEmpty() ? "those that begin with " + prefix : String.join(", ", left))
            + " with DEL.");
  }

  // A call of the engine that was under way when it stopped may have made a key since.
  private static void pause() {
    try {
      var unused = new CountDownLatch(1).await(100, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
