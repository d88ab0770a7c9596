package io.punctual.core.store.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.punctual.core.store.durability.Epoch;
import io.punctual.core.store.redis.script.ClusterEval;
import io.punctual.core.store.redis.script.Keys;
import io.punctual.core.store.redis.script.SlotLearner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.RedisConnection;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * Chooses a mark for each master of a cluster, except the one with the mark of the store. The mark
 * is a number that, as a hash tag, lies in one of the master's slots. It moves with its slot, and
 * stays chosen for as long as that master, or no master, has the slot.
 */
final class NodeMarks {

  private static final Logger log = LoggerFactory.getLogger(NodeMarks.class);
  private static final long READ_AGAIN = Duration.ofSeconds(10).toNanos();
  private static final int MOST = 1_000_000;

  private final Keys keys;
  private final SlotLearner slots = new SlotLearner();
  private List<String> chosen = List.of();
  private boolean read;
  private long readAt;

  NodeMarks(Keys keys) {
    this.keys = keys;
  }

  /**
   * Moves those marks on. Each is tried once, on one connection to its node, so that a node that
   * hangs delays the others by one call at most.
   *
   * @return those of the nodes that answered
   */
  List<Epoch> advance(RedisClusterConnection cluster, long now) {
    RedisClusterClient client = (RedisClusterClient) cluster.getNativeConnection();
    List<Epoch> epochs = new ArrayList<>();
    for (String mark : of(cluster)) {
      byte[] key = keys.epoch(mark);
      try (Connection node = client.getConnectionFromSlot(slot(key))) {
        epochs.add(advance(node, mark, key, now));
      } catch (JedisException e) {
        // Calls that need this node report that it is away. Another node may have its slots.
        log.debug("The mark {} was not moved on", mark, e);
        slots.learnInBackground(client, key);
      }
    }
    return epochs;
  }

  private static Epoch advance(Connection node, String mark, byte[] key, long now) {
    CommandArguments get = new CommandArguments(Command.HGET).add(key).add(RedisEpochMarker.ID);
    byte[] id = (byte[]) ClusterEval.execute(node, get);
    if (id == null) {
      var unused =
          ClusterEval.execute(
              node,
              new CommandArguments(Command.HSETNX)
                  .add(key)
                  .add(RedisEpochMarker.ID)
                  .add(RedisEpochMarker.newId(now)));
      id = (byte[]) Objects.requireNonNull(ClusterEval.execute(node, get));
    }
    Object sequence =
        ClusterEval.execute(
            node,
            new CommandArguments(Command.HINCRBY).add(key).add(RedisEpochMarker.SEQUENCE).add(1));
    return RedisEpochMarker.epoch(mark, ClusterEval.name(node), now, id, (Long) sequence, null);
  }

  /** Returns the marks that were advanced last, and those of nodes that did not answer. */
  synchronized List<String> chosen() {
    return chosen;
  }

  private synchronized List<String> of(RedisClusterConnection cluster) {
    if (!read || System.nanoTime() - readAt >= READ_AGAIN) {
      chosen = choose(cluster);
      read = true;
      readAt = System.nanoTime();
    }
    return chosen;
  }

  private List<String> choose(RedisClusterConnection cluster) {
    List<String> unowned = new ArrayList<>(chosen);
    List<String> marks = new ArrayList<>();
    for (RedisClusterNode node : cluster.clusterGetNodes()) {
      RedisClusterNode.SlotRange slots = node.getSlotRange();
      if (!node.isMaster() || node.isMarkedAsFail() || slots.getSlots().isEmpty()) {
        continue;
      }
      List<String> own =
          chosen.stream().filter(mark -> slots.contains(slot(keys.epoch(mark)))).toList();
      unowned.removeAll(own);
      if (!slots.contains(slot(keys.epoch("")))) {
        marks.add(own.isEmpty() ? first(slots) : own.get(0));
      }
    }
    marks.addAll(unowned);
    return List.copyOf(marks);
  }

  private String first(RedisClusterNode.SlotRange slots) {
    for (int i = 0; i < MOST; i++) {
      String mark = Integer.toString(i);
      if (slots.contains(slot(keys.epoch(mark)))) {
        return mark;
      }
    }
    throw new IllegalStateException("no number lies in the slots " + slots);
  }

  private static int slot(byte[] key) {
    return JedisClusterCRC16.getSlot(key);
  }

  /** The time of the node that has the key, epoch ms; any other one of a cluster may hang. */
  static long time(RedisConnection connection, byte[] key) {
    if (!(connection instanceof RedisClusterConnection)) {
      return Objects.requireNonNull(connection.serverCommands().time());
    }
    RedisClusterClient client = (RedisClusterClient) connection.getNativeConnection();
    try (Connection node = client.getConnectionFromSlot(slot(key))) {
      List<?> time = (List<?>) ClusterEval.execute(node, new CommandArguments(Command.TIME));
      return number(time.get(0)) * 1_000 + number(time.get(1)) / 1_000;
    }
  }

  private static long number(Object bytes) {
    return Long.parseLong(new String((byte[]) bytes, UTF_8));
  }

  /** Host and port of the node that has the key; empty where there is one server alone. */
  static String node(RedisConnection connection, byte[] key) {
    if (!(connection instanceof RedisClusterConnection)) {
      return "";
    }
    RedisClusterClient client = (RedisClusterClient) connection.getNativeConnection();
    try (Connection node = client.getConnectionFromSlot(slot(key))) {
      return ClusterEval.name(node);
    }
  }
}
