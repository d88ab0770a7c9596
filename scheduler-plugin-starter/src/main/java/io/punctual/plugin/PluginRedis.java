package io.punctual.plugin;

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

  /** Takes or makes the connections. */
  static PluginRedis of(RedisConnectionFactory application, Tls tls) {
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
