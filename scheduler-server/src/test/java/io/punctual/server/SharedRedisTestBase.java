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

  /** An instance of an application, as the registry would say it, that runs order.close. */
  protected static void instance(
      DynamicPropertyRegistry registry, String app, int index, int port, String protocol) {
    String at = "spring.cloud.discovery.client.simple.instances." + app + "[" + index + "].";
    registry.add(at + "uri", () -> "http://127.0.0.1:" + port);
    registry.add(at + "instance-id", () -> app + "-" + index);
    registry.add(at + "metadata[punctual.task-types]", () -> "order.close");
    registry.add(at + "metadata[punctual.callback-path]", () -> "/callback/" + app);
    registry.add(at + "metadata[punctual.protocol]", () -> protocol);
    registry.add(at + "metadata[punctual.concurrency]", () -> "100");
  }
}
