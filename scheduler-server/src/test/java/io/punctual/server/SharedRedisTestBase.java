package io.punctual.server;

import io.punctual.test.redis.RedisExtension;
import java.util.UUID;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** A scheduler on the Redis of all tests, with keys of its own in it. */
public abstract class SharedRedisTestBase extends ServerTestBase {

  /**
   * Classes with equal properties share a scheduler and its jobs. This one, with the class's name,
   * is for those who look at all that there is.
   */
  public static final String ALONE = "test.alone";

  @Value("${punctual.key-prefix}")
  protected String prefix;

  @Autowired protected RedisConnectionFactory connections;

  @DynamicPropertySource
  static void redis(DynamicPropertyRegistry registry) {
    registry.add("spring.data.redis.host", () -> RedisExtension.redis().host());
    registry.add("spring.data.redis.port", () -> RedisExtension.redis().port());
    String prefix = "test-" + UUID.randomUUID().toString().substring(0, 8);
    registry.add("punctual.key-prefix", () -> prefix);
  }
}
