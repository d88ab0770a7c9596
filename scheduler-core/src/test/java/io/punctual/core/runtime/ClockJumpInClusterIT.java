package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.Delivery;
import io.punctual.core.Engine;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.JobState;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Store;
import io.punctual.core.store.redis.RedisStore;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import io.punctual.test.redis.RedisCluster;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** The clock of one node of a cluster is set, and those of the others are not. */
@Tag("full")
class ClockJumpInClusterIT extends EngineTestBase {

  private static final int BUCKETS = 8;
  private static final RedisCluster CLUSTER = RedisCluster.start();
  private static final JedisConnectionFactory CONNECTIONS =
      connections(
          CLUSTER,
          JedisClientConfiguration.builder()
              .readTimeout(Duration.ofSeconds(2))
              .usePooling()
              .build());

  private final TestDispatcher dispatcher = new TestDispatcher();
  private final TestDispatcher other = new TestDispatcher();

  @AfterAll
  static void stopCluster() {
    CONNECTIONS.destroy();
    CLUSTER.close();
  }

  private Store settable() {
    return RedisStore.connect(
        CONNECTIONS, new StoreOptions(prefix, Duration.ofMinutes(10)), ClockJumpIT.SETTABLE);
  }

  private Engine start(String owner, TestDispatcher to) {
    return engine(settable(), options(owner).with().buckets(BUCKETS).build(), to, null);
  }

  private String clock(int bucket) {
    return prefix + ":{" + APP + ":" + TYPE + ":" + bucket + "}:set";
  }

  private RedisServer nodeOf(int bucket) {
    try {
      return CLUSTER.ownerOf(clock(bucket));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private void setClock(RedisServer node, long millis) throws IOException {
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
      if (nodeOf(bucket) == node) {
        Resp.call(node.port(), "SET", clock(bucket), Long.toString(millis));
      }
    }
  }

  private static JobState state(Engine engine, String id) {
    return engine.find(QUEUE, id).orElseThrow().state();
  }

  /** Ids that are small numbers: each is in the bucket of the rest of their division. */
  private static List<String> oneInEachBucket(int from) {
    return IntStream.range(from, from + BUCKETS).mapToObj(Integer::toString).toList();
  }

  @Test
  void aNodeWhoseClockIsSetForwardEndsNoLeaseThatIsKept() throws Exception {
    Engine one = start("one", dispatcher);
    List<String> pushed = oneInEachBucket(0);
    List<Delivery> deliveries = new ArrayList<>();
    for (String id : pushed) {
      submit(one, id, Duration.ZERO);
      deliveries.add(dispatcher.next());
    }
    dispatcher.capacity.set(0);
    other.capacity.set(0);
    Engine two = start("two", other);
    List<String> orphans = oneInEachBucket(BUCKETS);
    for (String id : orphans) {
      submit(two, id, Duration.ZERO);
      claimByOneThatIsGone(Bucket.of(QUEUE, id, BUCKETS));
    }
    RedisServer node = nodeOf(0);
    assertThat(IntStream.range(0, BUCKETS).filter(bucket -> nodeOf(bucket) != node)).isNotEmpty();

    setClock(node, 90_000);

    for (String id : orphans) {
      eventually().until(() -> state(one, id) == JobState.DELAYED);
    }
    assertThat(pushed).allMatch(id -> state(one, id) == JobState.RESERVED);
    assertThat(deliveries).allMatch(Delivery::leaseHeld);
  }

  private void claimByOneThatIsGone(Bucket bucket) {
    assertThat(
            settable()
                .jobs()
                .claim(
                    bucket,
                    1,
                    Duration.ofSeconds(2),
                    JobStore.ClaimMode.PUSH,
                    new LeaseToken("gone"),
                    "gone")
                .jobs())
        .hasSize(1);
  }
}
