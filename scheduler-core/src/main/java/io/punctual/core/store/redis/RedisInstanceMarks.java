package io.punctual.core.store.redis;

import io.punctual.core.store.StoreCalls;
import io.punctual.core.store.instance.InstanceMarks;
import io.punctual.core.store.redis.script.Arguments;
import io.punctual.core.store.redis.script.Keys;
import io.punctual.core.store.redis.script.RedisCalls;
import io.punctual.core.store.redis.script.ScriptRunner;
import java.time.Duration;
import java.util.Objects;
import org.springframework.data.domain.Range;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.SetCondition;
import org.springframework.data.redis.core.types.Expiration;

/** Two keys for each instance that is in trouble; both expire. */
final class RedisInstanceMarks implements InstanceMarks {

  private static final String CALL = "instances";
  private static final String BROKE = "instances/broke";

  private final ScriptRunner scripts;
  private final Keys keys;
  private final RedisCalls calls;

  RedisInstanceMarks(RedisConnectionFactory connections, ScriptRunner scripts, StoreCalls calls) {
    this.scripts = scripts;
    this.keys = scripts.keys();
    this.calls = new RedisCalls(connections, calls, CALL);
  }

  @Override
  public boolean reserve(String instance, Duration most) {
    return calls.make(
        "reserve " + instance,
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
        calls.make(
            "release " + instance,
            connection -> connection.keyCommands().pExpire(keys.reservedInstance(instance), 0));
  }

  @Override
  public long broke(String instance, String scheduler, Duration remembered) {
    return scripts
        .run(
            CALL,
            BROKE,
            "note a broken connection to " + instance,
            keys.brokenInstance(instance),
            new Arguments().add(scheduler).add(remembered.toMillis()))
        .number(0);
  }

  @Override
  public long broken(String instance, long since) {
    return calls.make(
        "read the broken connections to " + instance,
        connection ->
            Objects.requireNonNull(
                connection
                    .zSetCommands()
                    .zCount(
                        keys.brokenInstance(instance),
                        Range.rightUnbounded(Range.Bound.inclusive(since)))));
  }
}
