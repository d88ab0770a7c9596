package io.punctual.core.store.redis.script;

import io.punctual.core.store.StoreCalls;
import io.punctual.core.store.StoreException;
import java.util.function.Function;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Makes calls that are about no bucket.
 *
 * @param name identifies these calls to listeners
 */
public record RedisCalls(RedisConnectionFactory connections, StoreCalls calls, String name) {

  /**
   * Makes a call.
   *
   * @param what it does, for errors
   * @throws StoreException if Redis was not reached or refused
   */
  public <T> T make(String what, Function<RedisConnection, T> call) {
    return calls.make(
        name,
        null,
        () ->
            StoreErrors.translated(
                what,
                () -> {
                  try (RedisConnection connection = connections.getConnection()) {
                    return call.apply(connection);
                  }
                }));
  }
}
