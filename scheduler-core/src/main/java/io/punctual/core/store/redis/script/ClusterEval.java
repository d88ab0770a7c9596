package io.punctual.core.store.redis.script;

import io.punctual.core.store.durability.Reached;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import redis.clients.jedis.BuilderFactory;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.CommandObject;
import redis.clients.jedis.Connection;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisRedirectionException;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * Sends a script to the node of Redis Cluster that holds its keys, once.
 *
 * <p>The cluster client itself sends a command again whenever a connection broke, although the
 * first one may have been executed. A claim that is sent twice reserves jobs that nobody works on
 * until their lease ends. Here only what was certainly not executed is sent again: the connection
 * could not be made, or the node answered that the slot is elsewhere.
 */
public final class ClusterEval {

  private static final int MAX_REDIRECTS = 3;
  private static final Pattern ADDRESS = Pattern.compile("\\{([^{}]+)\\}");

  private static final int SLOTS = 16_384;

  private final SlotLearner slots = new SlotLearner();
  private final AtomicReferenceArray<String> nodes = new AtomicReferenceArray<>(SLOTS);

  /** Returns the name of the node that last had a key's slot; empty if no call went there yet. */
  public String node(byte[] key) {
    return Objects.requireNonNullElse(nodes.get(JedisClusterCRC16.getSlot(key)), "");
  }

  /**
   * Sends commands to the node of a key, all on one connection.
   *
   * @param script is sent first; only it may be answered with a redirection
   * @param confirmation adds what is sent behind it, each command once the one before was answered
   */
  public Reply send(
      RedisClusterClient client, byte[] key, CommandArguments script, Confirming confirmation) {
    int slot = JedisClusterCRC16.getSlot(key);
    for (int redirects = 0; ; redirects++) {
      try (Connection connection = connect(client, slot, key)) {
        learnNode(slot, connection);
        Object values = connection.executeCommand(raw(script));
        return new Reply(ScriptRunner.orEmpty((List<?>) values), confirmation.confirm(connection));
      } catch (JedisRedirectionException e) {
        slots.learn(client, key);
        if (redirects == MAX_REDIRECTS) {
          throw e;
        }
      } catch (JedisConnectionException e) {
        slots.learn(client, key);
        throw e;
      }
    }
  }

  /** Waits until what was done on a connection is where it must be. */
  interface Confirming {
    Reached confirm(Connection connection);
  }

  /** Names the node of a connection, as far as the driver tells. */
  public static String name(Connection connection) {
    return address(connection.toString());
  }

  /** Returns the host and port of {@link #node(byte[])}, as far as the driver tells. */
  public static String address(String node) {
    Matcher address = ADDRESS.matcher(node);
    return address.find() ? address.group(1) : node;
  }

  public static Replicas.Node node(Connection connection) {
    return commands ->
        commands.stream().map(command -> connection.executeCommand(raw(command))).toList();
  }

  public static Object execute(Connection connection, CommandArguments command) {
    return connection.executeCommand(raw(command));
  }

  private static CommandObject<Object> raw(CommandArguments arguments) {
    return new CommandObject<>(arguments, BuilderFactory.RAW_OBJECT);
  }

  private Connection connect(RedisClusterClient client, int slot, byte[] key) {
    try {
      return client.getConnectionFromSlot(slot);
    } catch (JedisException e) {
      slots.learn(client, key);
      return client.getConnectionFromSlot(slot);
    }
  }

  // The driver tells the address of a connection in no other way. HungNodeIT holds that it does.
  private void learnNode(int slot, Connection connection) {
    String node = connection.toString();
    if (!node.equals(nodes.get(slot))) {
      nodes.set(slot, node);
    }
  }
}
