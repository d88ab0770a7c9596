package io.punctual.test.redis;

import io.punctual.redis.RedisServer;
import java.net.URI;

/**
 * Where the tests' shared Redis listens.
 *
 * @param origin which one it is, for people
 */
public record SharedRedis(String host, int port, String origin) {

  /** System property, or environment variable in capitals with underscores: a Redis to be used. */
  static final String URL = "punctual.test.redis.url";

  static SharedRedis start() {
    String given = System.getProperty(URL, System.getenv("PUNCTUAL_TEST_REDIS_URL"));
    if (given != null && !given.isEmpty()) {
      URI uri = URI.create(given);
      return new SharedRedis(
          uri.getHost(), uri.getPort() < 0 ? 6379 : uri.getPort(), "given: " + given);
    }
    return RedisContainer.start()
        .orElseGet(
            () -> {
              RedisServer server = RedisServer.startTemporary();
              return new SharedRedis("127.0.0.1", server.port(), server.description());
            });
  }
}
