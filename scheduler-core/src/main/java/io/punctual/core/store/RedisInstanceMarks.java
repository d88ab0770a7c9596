package io.punctual.core.store;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Function;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.SetCondition;
import org.springframework.data.redis.core.types.Expiration;

/** Two keys for each instance that is in trouble; both expire. */
final class RedisInstanceMarks implements InstanceMarks {

  private static final String CALL = "instances";

  private final RedisConnectionFactory connections;
  private final Keys keys;
  private final StoreCalls calls;

  RedisInstanceMarks(RedisConnectionFactory connections, Keys keys, StoreCalls calls) {
    this.connections = connections;
    this.keys = keys;
    this.calls = calls;
  }

  private <T> T call(String what, String instance, Function<RedisConnection, T> call) {
    return calls.make(
        CALL,
        null,
        () ->
            StoreErrors.translated(
                what + " " + instance,
                () -> {
                  try (RedisConnection connection = connections.getConnection()) {
                    return call.apply(connection);
                  }
                }));
  }

  @Override
  public boolean reserve(String instance, Duration most) {
    return call(
        "reserve",
        instance,
        connection ->
            Boolean.TRUE.equals(
                connection
                    .stringCommands()
                    .set(
                        keys.reservedInstance(instance),
                        new byte[0],
                        SetCondition.ifAbsent(),
                        Expiration.from(most))));
  }

  @Override
  public void release(String instance) {
    var unused =
        call(
            "release",
            instance,
            connection -> connection.keyCommands().pExpire(keys.reservedInstance(instance), 0));
  }

  @Override
  public void broke(String instance, String scheduler, Duration remembered) {
    var unused =
        call(
            "note a broken connection to",
            instance,
            connection -> {
              byte[] key = keys.brokenInstance(instance);
              connection.hashCommands().hSet(key, Keys.bytes(scheduler), new byte[0]);
              return connection.keyCommands().pExpire(key, remembered.toMillis());
            });
  }

  @Override
  public long broken(String instance) {
    return call(
        "read the broken connections to",
        instance,
        connection ->
            Objects.requireNonNull(connection.hashCommands().hLen(keys.brokenInstance(instance))));
  }
}
