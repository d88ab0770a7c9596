package io.punctual.core.store.redis;

import io.punctual.core.job.Bucket;
import io.punctual.core.store.StoreCalls;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.redis.script.ClusterEval;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.util.Pool;

/**
 * Closes the idle connections as soon as one connection turns out to be broken. After a restart of
 * Redis all of them are broken, and each would fail one more call. A test of the connection before
 * each call would cost every call a round trip.
 *
 * <p>In a cluster, only a call about a bucket tells which node failed.
 *
 * <p>Jedis does not show the pool of its Sentinel client. There, the pool's own checks of idle
 * connections find the broken ones.
 */
final class IdleConnections implements StoreCalls.Listener {

  private final RedisConnectionFactory connections;
  private final Function<Bucket, String> nodes;

  /**
   * @param nodes names the node of a cluster that holds a bucket; empty if it is not known
   */
  IdleConnections(RedisConnectionFactory connections, Function<Bucket, String> nodes) {
    this.connections = connections;
    this.nodes = nodes;
  }

  @Override
  public void answered(String call, @Nullable Bucket bucket, long nanos) {
    // The connection works.
  }

  @Override
  public void failed(String call, @Nullable Bucket bucket, long nanos, RuntimeException e) {
    if (e instanceof StoreException store && store.kind() == StoreException.Kind.UNREACHABLE) {
      close(bucket);
    }
  }

  private void close(@Nullable Bucket bucket) {
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
      close(cluster, bucket);
    }
  }

  // Only those to the node that failed: the others answer their calls.
  private void close(RedisClusterClient cluster, @Nullable Bucket bucket) {
    Pool<?> pool =
        bucket == null
            ? null
            : cluster.getClusterNodes().get(ClusterEval.address(nodes.apply(bucket)));
    if (pool != null) {
      pool.clear();
    }
  }
}
