package io.punctual.core.store.redis;

import io.punctual.redis.RedisServer;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** The contract, on a Redis that orders letters by a locale. */
@Tag("full")
class LocaleStoreIT extends StoreContract {

  private static final RedisServer SERVER = LocaleRedis.start();
  private static final JedisConnectionFactory CONNECTIONS =
      StandaloneStoreIT.started(
          new JedisConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", SERVER.port())));

  @AfterAll
  static void stop() {
    CONNECTIONS.destroy();
    SERVER.close();
  }

  @Override
  RedisConnectionFactory connections() {
    return CONNECTIONS;
  }

  @Override
  List<Integer> servers() {
    return List.of(SERVER.port());
  }
}
