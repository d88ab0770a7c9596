package io.punctual.core.store.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.punctual.core.job.Bucket;
import io.punctual.core.store.Store;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.redis.script.Keys;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.core.store.redis.script.TimeSource;
import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import io.punctual.test.redis.RedisCluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.util.Pool;

/** What a restart of Redis leaves in the pool of connections. */
class IdleConnectionsIT {

  private static final int IDLE = 8;

  @Test
  void theFirstCallAfterARestartOfRedisIsTheOnlyOneThatFails() throws Exception {
    try (RedisServer server = RedisServer.startTemporary()) {
      JedisConnectionFactory connections =
          StandaloneStoreIT.started(
              new JedisConnectionFactory(
                  new RedisStandaloneConfiguration("127.0.0.1", server.port())));
      Store store = RedisStore.connect(connections, StoreOptions.DEFAULTS);
      RedisClient client = (RedisClient) connections.getConnection().getNativeConnection();
      Pool<Connection> pool = client.getPool();
      pool.addObjects(IDLE);
      assertThat(store.queues().count()).isZero();
      assertThat(pool.getNumIdle()).isEqualTo(IDLE);

      server.stop();
      server.start();
      assertThatExceptionOfType(StoreException.class)
          .isThrownBy(() -> store.queues().count())
          .extracting(StoreException::kind)
          .isEqualTo(StoreException.Kind.UNREACHABLE);

      // All at once, as calls that come together take them.
      List<Connection> taken = new ArrayList<>();
      for (int i = 0; i < IDLE; i++) {
        taken.add(pool.getResource());
      }
      assertThat(taken).allSatisfy(connection -> assertThat(connection.ping()).isTrue());
      taken.forEach(Connection::close);
      connections.destroy();
    }
  }

  @Test
  void aNodeOfAClusterThatFailsCostsTheOthersNoConnections() throws Exception {
    try (RedisCluster cluster = RedisCluster.start()) {
      JedisConnectionFactory connections =
          StandaloneStoreIT.started(
              new JedisConnectionFactory(
                  new RedisClusterConfiguration(cluster.addresses()),
                  JedisClientConfiguration.builder()
                      .readTimeout(Duration.ofMillis(500))
                      .usePooling()
                      .build()));
      Store store = RedisStore.connect(connections, StoreOptions.DEFAULTS);
      Bucket bucket = StoreContract.bucket(0);
      assertThat(store.jobs().stats(bucket).ready()).isZero();
      Keys keys = new Keys(StoreOptions.DEFAULTS.prefix(), TimeSource.REDIS);
      int failing = cluster.ownerOf(keys.tag(bucket)).port();
      RedisClusterClient client =
          (RedisClusterClient) connections.getConnection().getNativeConnection();
      for (Pool<Connection> pool : client.getClusterNodes().values()) {
        pool.clear();
        pool.addObjects(IDLE);
      }

      // It hangs for long enough that the call fails, and then all its connections break.
      Resp.call(failing, "CLIENT", "PAUSE", "4000", "ALL");
      assertFails(store, bucket);
      assertIdle(client, failing);
      StoreContract.eventually()
          .ignoreExceptions()
          .until(() -> Resp.call(failing, "PING").equals("PONG"));
      Objects.requireNonNull(client.getClusterNodes().get("127.0.0.1:" + failing)).addObjects(IDLE);
      Resp.call(failing, "CLIENT", "KILL", "TYPE", "normal");
      assertFails(store, bucket);
      assertIdle(client, failing);

      assertThat(store.jobs().stats(bucket).ready()).isZero();
      connections.destroy();
    }
  }

  private static void assertFails(Store store, Bucket bucket) {
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> store.jobs().stats(bucket))
        .extracting(StoreException::kind)
        .isEqualTo(StoreException.Kind.UNREACHABLE);
  }

  /** All connections to one node are gone, and none to the others. */
  private static void assertIdle(RedisClusterClient client, int failing) {
    assertThat(client.getClusterNodes()).hasSize(3);
    client
        .getClusterNodes()
        .forEach(
            (node, pool) ->
                assertThat(pool.getNumIdle())
                    .as(node)
                    .isEqualTo(node.equals("127.0.0.1:" + failing) ? 0 : IDLE));
  }
}
