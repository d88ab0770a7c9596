package io.punctual.systemtest;

import io.punctual.test.redis.RedisCluster;
import io.punctual.test.redis.RedisSentinels;

/** Options of schedulers: where Redis is. */
public final class RedisOptions {

  private RedisOptions() {}

  /** Sentinels name the server. */
  public static String[] of(RedisSentinels sentinels) {
    return new String[] {
      "--spring.data.redis.sentinel.master=" + RedisSentinels.MASTER,
      "--spring.data.redis.sentinel.nodes=" + String.join(",", sentinels.addresses()),
    };
  }

  /** A cluster. */
  public static String[] of(RedisCluster cluster) {
    return new String[] {
      "--spring.data.redis.cluster.nodes=" + String.join(",", cluster.addresses())
    };
  }
}
