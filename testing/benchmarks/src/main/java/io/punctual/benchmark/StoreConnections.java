package io.punctual.benchmark;

import io.punctual.core.store.Store;
import io.punctual.core.store.redis.RedisStore;
import io.punctual.core.store.redis.script.StoreOptions;
import java.time.Duration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** The job store without a scheduler. */
final class StoreConnections implements AutoCloseable {

  /** The key prefix. */
  static final String PREFIX = "bench";

  private final JedisConnectionFactory factory;

  StoreConnections(int port) {
    factory =
        new JedisConnectionFactory(
            new RedisStandaloneConfiguration("127.0.0.1", port),
            JedisClientConfiguration.builder()
                .readTimeout(Duration.ofSeconds(30))
                .usePooling()
                .build());
    factory.afterPropertiesSet();
    factory.start();
  }

  Store store() {
    return RedisStore.connect(factory, new StoreOptions(PREFIX, Duration.ofSeconds(1)));
  }

  @Override
  public void close() {
    factory.destroy();
  }
}
