package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.Engine;
import io.punctual.core.EngineOptions;
import io.punctual.core.job.Bucket;
import io.punctual.core.store.Store;
import io.punctual.core.store.redis.RedisStore;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import io.punctual.test.redis.RedisCluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import redis.clients.jedis.ConnectionPoolConfig;

/** One of three nodes of a cluster does not answer, and each call to it takes a minute to fail. */
@Tag("full")
class HungNodeIT extends EngineTestBase {

  private static final int BUCKETS = 64;
  private static final RedisCluster CLUSTER = RedisCluster.start();
  private static final JedisConnectionFactory CONNECTIONS = toCluster();

  private static JedisConnectionFactory toCluster() {
    ConnectionPoolConfig pool = new ConnectionPoolConfig();
    pool.setMaxTotal(64);
    pool.setMaxIdle(64);
    return connections(
        CLUSTER,
        JedisClientConfiguration.builder()
            .readTimeout(Duration.ofMinutes(1))
            .usePooling()
            .poolConfig(pool)
            .build());
  }

  @AfterAll
  static void stopCluster() {
    CONNECTIONS.destroy();
    CLUSTER.close();
  }

  private RedisServer nodeOf(int bucket) throws Exception {
    return CLUSTER.ownerOf(prefix + ":{" + APP + ":" + TYPE + ":" + bucket + "}:jobs");
  }

  @Test
  void theBucketsOfTheOtherNodesGoOn() throws Exception {
    TestDispatcher dispatcher = TestDispatcher.done();
    EngineOptions options = options("engine").with().buckets(BUCKETS).build();
    Store store = RedisStore.connect(CONNECTIONS, new StoreOptions(prefix, Duration.ofMinutes(10)));
    Engine engine = engine(store, options, dispatcher, null);
    // So that every scanner looks often, and knows its node.
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
      submit(engine, inBucket(bucket, "warm"), Duration.ZERO);
    }
    eventually().until(() -> dispatcher.seen.size() == BUCKETS);
    assertThat(IntStream.range(0, BUCKETS).mapToObj(i -> store.jobs().node(new Bucket(QUEUE, i))))
        .doesNotContain("")
        .satisfies(nodes -> assertThat(new TreeSet<>(nodes)).hasSize(3));

    RedisServer hung = nodeOf(0);
    List<Integer> others = new ArrayList<>();
    for (int bucket : IntStream.range(0, BUCKETS).toArray()) {
      if (nodeOf(bucket) != hung) {
        others.add(bucket);
      }
    }
    assertThat(BUCKETS - others.size()).as("more than may look at once").isGreaterThan(16);
    long due = System.currentTimeMillis() + 8_000;
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
      submit(engine, inBucket(bucket, "late"), job -> job.delayTime(due));
    }
    // It ends by itself: what would end it sooner is not answered either.
    Resp.call(hung.port(), "CLIENT", "PAUSE", "25000", "ALL");
    Set<String> expected = new TreeSet<>();
    others.forEach(bucket -> expected.add(inBucket(bucket, "late")));
    eventually().atMost(Duration.ofSeconds(20)).until(() -> dispatcher.seen.containsAll(expected));
    assertThat(dispatcher.seen).doesNotContain(inBucket(0, "late"));
    eventually().until(() -> dispatcher.seen.size() == 2 * BUCKETS);
  }

  private static String inBucket(int bucket, String name) {
    for (int i = 0; ; i++) {
      String id = name + "-" + i;
      if (Bucket.of(QUEUE, id, BUCKETS).index() == bucket) {
        return id;
      }
    }
  }
}
