package io.punctual.core.store;

import io.punctual.core.queue.Bucket;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.util.Pool;

/**
 * Closes the idle connections as soon as one connection turns out to be broken. After a restart of
 * Redis all of them are broken, and each would fail another call once so many calls come together.
 * To test a connection before each call would cost every call a round trip.
 *
 * <p>Jedis does not show the pool of its Sentinel client. There, the pool's own checks of idle
 * connections find the broken ones.
 */
final class IdleConnections implements StoreListener {

  private final RedisConnectionFactory connections;

  IdleConnections(RedisConnectionFactory connections) {
    this.connections = connections;
  }

  @Override
  public void answered(String call, @Nullable Bucket bucket, long nanos) {
    // The connection works.
  }

  @Override
  public void failed(String call, @Nullable Bucket bucket, long nanos, RuntimeException e) {
    if (e instanceof StoreException store && store.kind() == StoreException.Kind.UNREACHABLE) {
      close();
    }
  }

  private void close() {
    Object client;
    try (RedisConnection connection = connections.getConnection()) {
      client = connection.getNativeConnection();
    } catch (RuntimeException e) {
      // The connection factory was stopped: it has closed them itself.
      return;
    }
    if (client instanceof RedisClient standalone) {
      standalone.getPool().clear();
    } else if (client instanceof RedisClusterClient cluster) {
      cluster.getClusterNodes().values().forEach(Pool::clear);
    }
  }
}
