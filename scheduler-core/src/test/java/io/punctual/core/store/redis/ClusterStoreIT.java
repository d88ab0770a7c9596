package io.punctual.core.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.Due;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.Submitted;
import io.punctual.core.store.redis.script.Keys;
import io.punctual.core.store.redis.script.TimeSource;
import io.punctual.redis.Resp;
import io.punctual.test.redis.RedisCluster;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

class ClusterStoreIT extends StoreContract {

  private static final RedisCluster CLUSTER = RedisCluster.start();
  private static final JedisConnectionFactory CONNECTIONS = connectTo(CLUSTER);

  static JedisConnectionFactory connectTo(RedisCluster cluster) {
    return StandaloneStoreIT.started(
        new JedisConnectionFactory(new RedisClusterConfiguration(cluster.addresses())));
  }

  @AfterAll
  static void stop() {
    CONNECTIONS.destroy();
    CLUSTER.close();
  }

  @Override
  RedisConnectionFactory connections() {
    return CONNECTIONS;
  }

  @Override
  List<Integer> servers() {
    return CLUSTER.ports();
  }

  @Test
  void bucketsAreSpreadOverTheServers() throws IOException {
    IntStream.range(0, 16).forEach(i -> submit(bucket(i), "job", Due.in(0)));

    for (int server : servers()) {
      assertThat(Resp.call(server, "KEYS", options.prefix() + ":*")).isNotEmpty();
    }
  }

  @Test
  void aBucketIsFollowedToTheServerThatHasItNow() throws Exception {
    // A slot that no other test has keys in: the prefix stands outside of the hash tag.
    Bucket moving = new Bucket(new QueueName("moving", "away"), 0);
    String slot =
        Resp.call(
            servers().get(0),
            "CLUSTER",
            "KEYSLOT",
            new Keys(options.prefix(), TimeSource.REDIS).tag(moving));
    assertThat(claim(moving)).isEmpty();
    int from = ownerOf(slot);
    int to = servers().get((servers().indexOf(from) + 1) % servers().size());
    String newOwner = Resp.call(to, "CLUSTER", "MYID");

    for (int server : List.of(to, from)) {
      Resp.call(server, "CLUSTER", "SETSLOT", slot, "NODE", newOwner);
    }

    assertThat(submit(moving, "a", Due.in(0))).isEqualTo(Submitted.Kind.CREATED);
    assertThat(claim(moving)).hasSize(1);
    assertThat(jobs.stats(moving).counters()).containsEntry("submitted", 1L);
    assertThat(ownerOf(slot)).isEqualTo(to);
  }

  private int ownerOf(String slot) throws IOException {
    for (int server : servers()) {
      String nodes = Resp.call(server, "CLUSTER", "NODES");
      String myself =
          nodes.lines().filter(line -> line.contains("myself")).findFirst().orElseThrow();
      // Eight fields about the server come first.
      if (Arrays.stream(myself.split(" ", -1))
          .skip(8)
          .anyMatch(range -> holds(range, Integer.parseInt(slot)))) {
        return server;
      }
    }
    throw new AssertionError("nobody has slot " + slot);
  }

  private static boolean holds(String range, int slot) {
    String[] ends = range.split("-", -1);
    return Integer.parseInt(ends[0]) <= slot && slot <= Integer.parseInt(ends[ends.length - 1]);
  }
}
