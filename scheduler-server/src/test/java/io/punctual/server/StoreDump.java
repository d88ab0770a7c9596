package io.punctual.server;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** Everything that is stored under a prefix, to be compared. */
final class StoreDump {

  private StoreDump() {}

  static Map<String, String> of(RedisConnectionFactory connections, String prefix) {
    Map<String, String> dump = new TreeMap<>();
    try (RedisConnection redis = connections.getConnection()) {
      byte[] pattern = (prefix + "*").getBytes(StandardCharsets.UTF_8);
      for (byte[] key : redis.keyCommands().keys(pattern)) {
        String name = new String(key, StandardCharsets.UTF_8);
        // The scheduler moves these on all the time.
        if (!name.endsWith(":epoch") && !name.endsWith(":members") && !name.contains(":history")) {
          dump.put(name, HexFormat.of().formatHex(redis.keyCommands().dump(key)));
        }
      }
    }
    return dump;
  }
}
