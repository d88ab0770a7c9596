package io.punctual.core.store;

import io.punctual.core.queue.Bucket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.ReturnType;

/** Runs scripts on the keys of a bucket, by hash, or by text where Redis does not know them yet. */
final class ScriptRunner {

  private final RedisConnectionFactory connections;
  private final Keys keys;
  private final TimeSource time;
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
    String what = name + " on " + bucket;
    return StoreErrors.translated(
        what,
        () -> {
          try (RedisConnection connection = connections.getConnection()) {
            return new Reply(eval(connection, script, bucketKeys.size(), keysAndArguments));
          }
        });
  }

  private static List<?> eval(
      RedisConnection connection, LuaScript script, int keyCount, byte[][] keysAndArguments) {
    try {
      List<?> reply =
          connection
              .scriptingCommands()
              .evalSha(
                  script.sha1().getBytes(StandardCharsets.US_ASCII),
                  ReturnType.MULTI,
                  keyCount,
                  keysAndArguments);
      return reply == null ? List.of() : reply;
    } catch (RuntimeException e) {
      if (!StoreErrors.says(e, "NOSCRIPT")) {
        throw e;
      }
      List<?> reply =
          connection
              .scriptingCommands()
              .eval(script.text(), ReturnType.MULTI, keyCount, keysAndArguments);
      return reply == null ? List.of() : reply;
    }
  }
}
