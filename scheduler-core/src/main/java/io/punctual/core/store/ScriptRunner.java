package io.punctual.core.store;

import io.punctual.core.queue.Bucket;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.connection.jedis.JedisConnection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.RedisClusterClient;

/**
 * Runs scripts on the keys of a bucket, by hash, or by text where Redis does not know them yet.
 * Never sends a script again after an answer was lost: whether to repeat is the caller's decision.
 */
final class ScriptRunner {

  private final RedisConnectionFactory connections;
  private final Keys keys;
  private final TimeSource time;
  private final ClusterEval cluster = new ClusterEval();
  private final Map<String, LuaScript> scripts = new ConcurrentHashMap<>();

  ScriptRunner(RedisConnectionFactory connections, Keys keys, TimeSource time) {
    this.connections = connections;
    this.keys = keys;
    this.time = time;
  }

  Keys keys() {
    return keys;
  }

  /**
   * Runs a script.
   *
   * @throws StoreException if Redis was not reached or refused
   */
  Reply run(String name, Bucket bucket, Arguments arguments) {
    LuaScript script = scripts.computeIfAbsent(name, n -> LuaScript.load(n, time));
    List<byte[]> bucketKeys = keys.of(bucket);
    byte[][] keysAndArguments = arguments.behind(bucketKeys);
    return StoreErrors.translated(
        name + " on " + bucket,
        () -> {
          RedisConnection connection = connections.getConnection();
          try {
            return reply(connection, script, bucketKeys.size(), keysAndArguments);
          } finally {
            release(connection);
          }
        });
  }

  // Jedis's unified client takes a connection from the pool for each command, and gives it back. To
  // close Spring's object would only look for a transaction to discard, and throw and catch an
  // exception because there is none, for every script.
  private static void release(RedisConnection connection) {
    if (!(connection instanceof JedisConnection)) {
      connection.close();
    }
  }

  private Reply reply(
      RedisConnection connection, LuaScript script, int keyCount, byte[][] keysAndArguments) {
    try {
      return new Reply(
          eval(connection, Command.EVALSHA, script.sha1Bytes(), keyCount, keysAndArguments));
    } catch (RuntimeException e) {
      if (!StoreErrors.says(e, "NOSCRIPT")) {
        throw e;
      }
      return new Reply(eval(connection, Command.EVAL, script.text(), keyCount, keysAndArguments));
    }
  }

  private List<?> eval(
      RedisConnection connection,
      Command command,
      byte[] script,
      int keyCount,
      byte[][] keysAndArguments) {
    List<?> values;
    if (connection instanceof RedisClusterConnection) {
      RedisClusterClient client = (RedisClusterClient) connection.getNativeConnection();
      values = (List<?>) cluster.send(client, command, script, keyCount, keysAndArguments);
    } else if (command == Command.EVALSHA) {
      values =
          connection
              .scriptingCommands()
              .evalSha(script, ReturnType.MULTI, keyCount, keysAndArguments);
    } else {
      values =
          connection.scriptingCommands().eval(script, ReturnType.MULTI, keyCount, keysAndArguments);
    }
    return orEmpty(values);
  }

  private static List<?> orEmpty(@Nullable List<?> values) {
    return values == null ? List.of() : values;
  }
}
