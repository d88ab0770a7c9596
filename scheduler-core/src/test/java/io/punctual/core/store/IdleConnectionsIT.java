package io.punctual.core.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.punctual.redis.RedisServer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.RedisClient;
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
}
