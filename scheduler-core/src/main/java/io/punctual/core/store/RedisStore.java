package io.punctual.core.store;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/** Makes a {@link Store} on Redis: standalone, Sentinel or Cluster, as the connections are made. */
public final class RedisStore {

  private RedisStore() {}

  /** A store on Redis 6.2 or newer. */
  public static Store connect(RedisConnectionFactory connections, StoreOptions options) {
    return connect(connections, options, TimeSource.REDIS);
  }

  /** A store whose scripts take the time from elsewhere: for tests that walk through days. */
  public static Store connect(
      RedisConnectionFactory connections, StoreOptions options, TimeSource time) {
    Keys keys = new Keys(options.prefix(), time);
    ScriptRunner scripts = new ScriptRunner(connections, keys, time);
    return new Store(
        new RedisJobStore(scripts, options.tombstones()),
        new RedisQueueDirectory(connections, keys),
        new RedisWakeUps(connections, keys));
  }
}
