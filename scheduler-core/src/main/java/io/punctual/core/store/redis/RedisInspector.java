package io.punctual.core.store.redis;

import io.punctual.core.store.StoreException;
import io.punctual.core.store.durability.Durability;
import io.punctual.core.store.durability.StoreInspector;
import io.punctual.core.store.durability.StoreNode;
import io.punctual.core.store.durability.StoreNode.Persistence;
import io.punctual.core.store.redis.script.ClusterEval;
import io.punctual.core.store.redis.script.Confirmation;
import io.punctual.core.store.redis.script.Replicas;
import io.punctual.core.store.redis.script.ScriptRunner;
import io.punctual.core.store.redis.script.StoreErrors;
import io.punctual.core.store.redis.script.StoreOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConnection;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.RedisSentinelClient;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * Reads INFO, and by CONFIG GET what INFO does not say: that is worth having, and no more, since
 * who may read Redis's settings reads its passwords, too.
 */
final class RedisInspector implements StoreInspector {

  private static final Logger log = LoggerFactory.getLogger(RedisInspector.class);

  private final RedisConnectionFactory connections;
  private final Durability durability;
  private final Replicas replicas;
  private final String key;
  private volatile List<StoreNode> known = List.of();
  // Whether the nodes are as known: the last look at them worked.
  private volatile boolean current;
  // Asking again and again would fill Redis's log of what it refused.
  private volatile boolean refused;

  /** CONFIG GET of one server. */
  private interface Settings {
    @Nullable String read(String setting);
  }

  /**
   * @param key of ours, for a write that replicas are to confirm
   */
  RedisInspector(
      RedisConnectionFactory connections, StoreOptions options, Replicas replicas, String key) {
    this.connections = connections;
    this.durability = options.durability();
    this.replicas = replicas;
    this.key = key;
  }

  @Override
  public Durability durability() {
    return durability;
  }

  @Override
  public boolean synced(String node) {
    return current
        && !known.isEmpty()
        && StoreNode.named(node, known).stream()
            .allMatch(n -> n.answered() && n.persistence() == Persistence.SYNCED_LOG);
  }

  @Override
  public boolean allReplicated(Duration within) {
    return replicas.allConfirmed(within);
  }

  @Override
  public List<StoreNode.Finding> replicas() {
    if (!replicas.areAsked()) {
      return List.of();
    }
    return StoreErrors.translated(
        "ask the replicas of Redis",
        () -> {
          try (RedisConnection connection = connections.getConnection()) {
            if (connection instanceof RedisClusterConnection) {
              askMasters((RedisClusterClient) connection.getNativeConnection());
            } else {
              replicas.look("", key, commands -> ScriptRunner.pipelined(connection, commands));
            }
          }
          return replicas.findings();
        });
  }

  private void askMasters(RedisClusterClient client) {
    replicas
        .used()
        .forEach(
            (name, used) -> {
              try (Connection master =
                  client.getConnectionFromSlot(JedisClusterCRC16.getSlot(used))) {
                String now = ClusterEval.name(master);
                if (!now.equals(name)) {
                  // Its slot has moved, or a replica was promoted.
                  replicas.forget(name);
                }
                replicas.look(now, used, ClusterEval.node(master));
              } catch (JedisConnectionException e) {
                // A master that is away is reported by what needs it.
              }
            });
  }

  @Override
  public List<StoreNode> nodes() {
    List<StoreNode> nodes;
    try {
      nodes = readNodes();
    } catch (StoreException e) {
      current = false;
      throw e;
    }
    known = nodes;
    current = true;
    return nodes;
  }

  private List<StoreNode> readNodes() {
    return StoreErrors.translated(
        "look at Redis",
        () -> {
          try (RedisConnection connection = connections.getConnection()) {
            if (connection instanceof RedisClusterConnection cluster) {
              return nodes(cluster);
            }
            Properties info = connection.serverCommands().info();
            return List.of(
                node(
                    address(connection),
                    info == null ? new Properties() : info,
                    setting -> value(setting, connection.serverCommands().getConfig(setting))));
          }
        });
  }

  @Override
  public List<StoreNode.Finding> failOver(Duration lease) {
    if (!(connections instanceof JedisConnectionFactory jedis)
        || jedis.getSentinelConfiguration() == null
        || jedis.getSentinelConfiguration().getMaster() == null) {
      return List.of();
    }
    String name = jedis.getSentinelConfiguration().getMaster().getName();
    try (RedisSentinelConnection sentinel = connections.getSentinelConnection()) {
      return sentinel.masters().stream()
          .filter(primary -> Objects.equals(primary.getName(), name))
          .flatMap(primary -> SentinelSettings.of(primary).findings(lease).stream())
          .toList();
    } catch (IOException | RuntimeException e) {
      return List.of(
          new StoreNode.Finding(
              false,
              "no Sentinel of "
                  + name
                  + " says how it is set up (SENTINEL MASTERS): "
                  + e.getMessage()
                  + "; see whether they run, and allow that command"));
    }
  }

  @Override
  public long now() {
    return StoreErrors.translated(
        "ask Redis for its time",
        () -> {
          try (RedisConnection connection = connections.getConnection()) {
            Long time = connection.serverCommands().time(TimeUnit.MILLISECONDS);
            return Objects.requireNonNull(time, "the time");
          }
        });
  }

  private List<StoreNode> nodes(RedisClusterConnection cluster) {
    List<StoreNode> nodes = new ArrayList<>();
    for (RedisClusterNode master : cluster.clusterGetNodes()) {
      if (master.isMaster() && !master.getSlotRange().getSlots().isEmpty()) {
        nodes.add(node(cluster, master));
      }
    }
    return nodes;
  }

  private StoreNode node(RedisClusterConnection cluster, RedisClusterNode master) {
    if (!master.isMarkedAsFail()) {
      try {
        Properties info = cluster.serverCommands().info(master);
        return node(
            master.asString(),
            info == null ? new Properties() : info,
            setting -> value(setting, cluster.serverCommands().getConfig(master, setting)));
      } catch (DataAccessException | JedisException e) {
        if (StoreErrors.isAnswer(e)) {
          throw e;
        }
        log.debug("Redis at {} was not read", master.asString(), e);
      }
    }
    return known.stream()
        .filter(node -> node.address().equals(master.asString()))
        .map(StoreNode::unanswered)
        .findFirst()
        .orElseGet(() -> StoreNode.unread(master.asString()));
  }

  private StoreNode node(String address, Properties info, Settings settings) {
    return new StoreNode(
        address,
        info.getProperty("redis_version", "unknown"),
        info.getProperty("run_id", ""),
        info.getProperty("master_replid", ""),
        Integer.parseInt(info.getProperty("connected_slaves", "0")),
        // Is there only where min-replicas-to-write and min-replicas-max-lag are set.
        info.getProperty("min_slaves_good_slaves") != null,
        persistence(info.getProperty("aof_enabled"), settings),
        info.getProperty("maxmemory_policy"),
        bytes(info.getProperty("maxmemory")),
        bytes(info.getProperty("used_memory")),
        true);
  }

  private static @Nullable Long bytes(@Nullable String number) {
    return number == null ? null : Long.valueOf(number);
  }

  private Persistence persistence(@Nullable String log, Settings settings) {
    if (log == null) {
      return Persistence.UNKNOWN;
    }
    if (log.equals("1")) {
      return switch (Objects.requireNonNullElse(allowed(settings, "appendfsync"), "")) {
        case "always" -> Persistence.SYNCED_LOG;
        case "no" -> Persistence.LAZY_LOG;
        default -> Persistence.LOG;
      };
    }
    String snapshots = allowed(settings, "save");
    if (snapshots == null) {
      return Persistence.NO_LOG;
    }
    return snapshots.isEmpty() ? Persistence.NOTHING : Persistence.SNAPSHOTS;
  }

  // Managed services and careful operators forbid CONFIG; that is no failure.
  private @Nullable String allowed(Settings settings, String setting) {
    if (refused) {
      return null;
    }
    try {
      return settings.read(setting);
    } catch (DataAccessException e) {
      if (StoreErrors.isAnswer(e)) {
        refused = true;
        return null;
      }
      throw e;
    }
  }

  private static @Nullable String value(String setting, @Nullable Properties found) {
    return found == null ? null : found.getProperty(setting);
  }

  // Sentinels name another server after a fail-over.
  private String address(RedisConnection connection) {
    if (connection.getNativeConnection() instanceof RedisSentinelClient sentinels) {
      return sentinels.getCurrentMaster().toString();
    }
    return connections instanceof JedisConnectionFactory jedis
        ? jedis.getHostName() + ":" + jedis.getPort()
        : "its address";
  }

  @Override
  public List<String> obstacles(List<StoreNode> nodes) {
    return nodes.stream()
        .filter(StoreNode::answered)
        .map(this::obstacle)
        .filter(text -> !text.isEmpty())
        .toList();
  }

  private String obstacle(StoreNode node) {
    return switch (durability.level()) {
      case AUTO, REDIS -> "";
      case SYNCED -> Confirmation.obstacleToSync(node);
      case REPLICATED ->
          node.replicas() >= durability.replicas()
              ? ""
              : "Redis at "
                  + node.address()
                  + " has "
                  + node.replicas()
                  + " replicas connected, and "
                  + durability.replicas()
                  + " must confirm each change: add replicas, or choose a weaker durability";
    };
  }
}
