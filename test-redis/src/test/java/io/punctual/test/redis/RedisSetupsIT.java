package io.punctual.test.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.Resp;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RedisExtension.class)
class RedisSetupsIT {

  @Test
  void theSharedRedisAnswersAndSaysWhichOneItIs(SharedRedis redis) throws Exception {
    assertThat(Resp.call(redis.port(), "PING")).isEqualTo("PONG");
    assertThat(redis.origin()).isNotBlank();
    assertThat(RedisExtension.redis()).isSameAs(redis);
  }

  @Test
  void theSentinelsNameTheMaster() throws Exception {
    try (RedisSentinels sentinels = RedisSentinels.start(Duration.ofMinutes(1))) {
      assertThat(sentinels.master()).isEqualTo(sentinels.firstMaster().port());
    }
  }

  @Test
  void theSentinelsPromoteTheReplicaOfAMasterThatIsGone() throws Exception {
    try (RedisSentinels sentinels = RedisSentinels.start(Duration.ofMinutes(1))) {
      sentinels.firstMaster().kill();
      sentinels.failOver();

      assertThat(sentinels.master()).isEqualTo(sentinels.firstReplica().port());
      sentinels.restoreMaster();
    }
  }

  @Test
  void theClusterOwnsAllSlots() throws Exception {
    try (RedisCluster cluster = RedisCluster.start()) {
      assertThat(Resp.call(cluster.ports().get(1), "CLUSTER", "INFO"))
          .contains("cluster_slots_ok:16384");
    }
  }
}
