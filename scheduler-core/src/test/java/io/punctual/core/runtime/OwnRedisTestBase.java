package io.punctual.core.runtime;

import io.punctual.redis.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** Each test has a Redis that it may break. */
abstract class OwnRedisTestBase extends EngineTestBase {

  RedisServer server;
  JedisConnectionFactory own;

  @BeforeEach
  void startRedis() {
    server = RedisServer.startTemporary();
    own = connections("127.0.0.1", server.port());
  }

  @AfterEach
  void stopRedis() throws Exception {
    closeEngines();
    own.destroy();
    server.close();
  }
}
