package io.punctual.plugin;

import io.punctual.internal.WorkerSetupException;
import java.time.Duration;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import redis.clients.jedis.ConnectionPoolConfig;

/** Connections by Jedis to where an application connects by Lettuce. */
final class LettuceToJedis {

  // Scripts take milliseconds; whoever waits longer than this has lost Redis, and must notice well
  // within a lease.
  private static final Duration TIMEOUT = Duration.ofSeconds(2);
  private static final int CONNECTIONS = 32;

  private LettuceToJedis() {}

  static JedisConnectionFactory convert(RedisConnectionFactory application, Tls tls) {
    LettuceConnectionFactory lettuce = (LettuceConnectionFactory) application;
    if (lettuce.getSocketConfiguration() != null) {
      throw new WorkerSetupException(
          "The application talks to Redis through a Unix socket, which Punctual cannot use.",
          "Let spring.data.redis name a host and a port.");
    }
    JedisConnectionFactory jedis = factory(lettuce, client(lettuce, tls));
    jedis.afterPropertiesSet();
    jedis.start();
    return jedis;
  }

  private static JedisConnectionFactory factory(
      LettuceConnectionFactory lettuce, JedisClientConfiguration client) {
    RedisClusterConfiguration cluster = lettuce.getClusterConfiguration();
    if (cluster != null) {
      return new JedisConnectionFactory(cluster, client);
    }
    RedisSentinelConfiguration sentinel = lettuce.getSentinelConfiguration();
    if (sentinel != null) {
      return new JedisConnectionFactory(sentinel, client);
    }
    return new JedisConnectionFactory(lettuce.getStandaloneConfiguration(), client);
  }

  private static JedisClientConfiguration client(LettuceConnectionFactory lettuce, Tls tls) {
    ConnectionPoolConfig pool = new ConnectionPoolConfig();
    pool.setMaxTotal(CONNECTIONS);
    pool.setMaxIdle(CONNECTIONS);
    pool.setMaxWait(TIMEOUT);
    JedisClientConfiguration.JedisClientConfigurationBuilder client =
        JedisClientConfiguration.builder().connectTimeout(TIMEOUT).readTimeout(TIMEOUT);
    client.usePooling().poolConfig(pool);
    String name = lettuce.getClientName();
    if (name != null) {
      client.clientName(name);
    }
    if (lettuce.isUseSsl()) {
      tls.apply(client.useSsl());
    }
    return client.build();
  }
}
