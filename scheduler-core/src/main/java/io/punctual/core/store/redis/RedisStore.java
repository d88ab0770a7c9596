package io.punctual.core.store.redis;

import io.punctual.core.store.Store;
import io.punctual.core.store.StoreCalls;
import io.punctual.core.store.durability.Durability;
import io.punctual.core.store.durability.StoreInspector;
import io.punctual.core.store.instance.InstanceMarks;
import io.punctual.core.store.instance.RegisteredWorkers;
import io.punctual.core.store.redis.script.Confirmation;
import io.punctual.core.store.redis.script.Keys;
import io.punctual.core.store.redis.script.LuaScript;
import io.punctual.core.store.redis.script.Replicas;
import io.punctual.core.store.redis.script.ScriptRunner;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.core.store.redis.script.TimeSource;
import java.time.Duration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** Makes a {@link Store} on Redis: standalone, Sentinel or Cluster, as the connections are made. */
public final class RedisStore {

  private static final String LETTUCE = "org.springframework.data.redis.connection.lettuce";

  private RedisStore() {}

  /**
   * How long a change may wait until it is as durable as asked for: half the time after which these
   * connections give Redis up, at most 1 s.
   */
  public static Duration patience(RedisConnectionFactory connections) {
    int timeout = connections instanceof JedisConnectionFactory jedis ? jedis.getTimeout() : 0;
    long longest = Durability.DEFAULT.patience().toMillis();
    // 0 is for ever.
    return Duration.ofMillis(timeout <= 0 ? longest : Math.max(10, Math.min(timeout / 2, longest)));
  }

  /**
   * A store on Redis 6.2 or newer. Connects when it is first used.
   *
   * @param connections with Jedis as driver
   * @throws IllegalArgumentException if the driver is Lettuce, which sends commands again by itself
   *     after it lost a connection (a claim that is sent twice reserves jobs for nobody), or Jedis
   *     in its old form
   */
  public static Store connect(RedisConnectionFactory connections, StoreOptions options) {
    return connect(connections, options, TimeSource.REDIS);
  }

  /**
   * What schedulers on one Redis tell each other about instances.
   *
   * @param calls told of each call
   */
  public static InstanceMarks instanceMarks(
      RedisConnectionFactory connections, StoreOptions options, StoreCalls calls) {
    return new RedisInstanceMarks(connections, scripts(connections, options, calls), calls);
  }

  /**
   * The workers that registered at a scheduler.
   *
   * @param calls told of each call
   */
  public static RegisteredWorkers registeredWorkers(
      RedisConnectionFactory connections, StoreOptions options, StoreCalls calls) {
    return new RedisRegisteredWorkers(scripts(connections, options, calls));
  }

  private static ScriptRunner scripts(
      RedisConnectionFactory connections, StoreOptions options, StoreCalls calls) {
    Keys keys = new Keys(options.prefix(), TimeSource.REDIS);
    return new ScriptRunner(connections, keys, LuaScript.all(TimeSource.REDIS), null, null, calls);
  }

  /** A store whose scripts take the time from elsewhere: for tests that walk through days. */
  public static Store connect(
      RedisConnectionFactory connections, StoreOptions options, TimeSource time) {
    if (connections.getClass().getName().startsWith(LETTUCE)) {
      throw new IllegalArgumentException(
          "Punctual needs a JedisConnectionFactory, not "
              + connections.getClass().getSimpleName()
              + ": set spring.data.redis.client-type=jedis");
    }
    if (connections instanceof JedisConnectionFactory jedis && !jedis.isUseUnifiedJedis()) {
      throw new IllegalArgumentException(
          "Punctual needs the JedisConnectionFactory's unified client, which is the default:"
              + " remove setUseUnifiedJedis(false)");
    }
    Keys keys = new Keys(options.prefix(), time);
    Replicas replicas = new Replicas(options);
    StoreInspector inspector = new RedisInspector(connections, options, replicas, keys.confirmed());
    Confirmation confirmation = new Confirmation(options.durability(), inspector, replicas);
    Durability ofEnds = new Durability(Durability.Level.AUTO, 0, options.durability().patience());
    Confirmation ends =
        options.confirmEnds() ? new Confirmation(ofEnds, inspector, replicas) : null;
    StoreCalls calls = new StoreCalls();
    ScriptRunner scripts =
        new ScriptRunner(connections, keys, LuaScript.all(time), confirmation, ends, calls);
    calls.add(new IdleConnections(connections, scripts::node));
    return new Store(
        new RedisJobStore(scripts, options.tombstones()),
        new RedisQueueDirectory(connections, scripts, calls),
        new RedisWakeUps(connections, keys),
        new RedisMembers(connections, scripts, calls),
        inspector,
        new RedisEpochMarker(connections, scripts, calls),
        calls,
        new RedisScheduleStore(scripts),
        new RedisCalendarStore(connections, keys, calls));
  }
}
