package io.punctual.test.redis;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives tests a real Redis, by a parameter of type {@link SharedRedis} of constructor or method:
 * the one that is given by {@code punctual.test.redis.url}, else one in a container where a Docker
 * engine answers, else a process. It says which one it took. All tests of a JVM share it, so use
 * names of your own in it.
 */
public final class RedisExtension implements ParameterResolver {

  private static final class Holder {
    static final SharedRedis REDIS = start();

    private static SharedRedis start() {
      SharedRedis redis = SharedRedis.start();
      System.out.println(
          "Redis for tests: " + redis.origin() + ", " + redis.host() + ":" + redis.port());
      return redis;
    }
  }

  /** The shared Redis, started when it is first asked for. */
  public static SharedRedis redis() {
    return Holder.REDIS;
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == SharedRedis.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return redis();
  }
}
