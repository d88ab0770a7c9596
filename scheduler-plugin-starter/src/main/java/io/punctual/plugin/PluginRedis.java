package io.punctual.plugin;

import io.punctual.internal.WorkerSetupException;
import java.util.stream.Stream;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/**
 * The connections of the store: the application's own where they are made by Jedis, else some of
 * our own to the same Redis. Lettuce sends a command again after it lost its connection, which must
 * not happen to a claim.
 *
 * <p>Not a bean of type {@link RedisConnectionFactory}, so that the application still has one.
 */
public final class PluginRedis implements AutoCloseable {

  private static final String LETTUCE = "org.springframework.data.redis.connection.lettuce";

  private final RedisConnectionFactory connections;
  private final boolean own;

  private PluginRedis(RedisConnectionFactory connections, boolean own) {
    this.connections = connections;
    this.own = own;
  }

  /**
   * Takes or makes the connections.
   *
   * @throws WorkerSetupException if the application has an older Spring Data Redis, as it has with
   *     Spring Boot 4.0
   */
  static PluginRedis of(RedisConnectionFactory application, Tls tls) {
    if (Stream.of(JedisConnectionFactory.class.getMethods())
        .noneMatch(method -> method.getName().equals("isUseUnifiedJedis"))) {
      throw new WorkerSetupException(
          "Plugin mode needs Spring Data Redis 4.1; this application has %s."
              .formatted(RedisConnectionFactory.class.getPackage().getImplementationVersion()),
          "Use Spring Boot 4.1. Or stay with Spring Boot 4.0, and set these properties in the"
              + " build: spring-data-bom.version=2026.0.0, jedis.version=7.4.1 and"
              + " lettuce.version=7.5.2.RELEASE.");
    }
    // By name: an application that has Jedis alone has no such class.
    return application.getClass().getName().startsWith(LETTUCE)
        ? new PluginRedis(LettuceToJedis.convert(application, tls), true)
        : new PluginRedis(application, false);
  }

  /** Those that the store uses. */
  public RedisConnectionFactory connections() {
    return connections;
  }

  @Override
  public void close() {
    if (own && connections instanceof JedisConnectionFactory jedis) {
      jedis.destroy();
    }
  }
}
