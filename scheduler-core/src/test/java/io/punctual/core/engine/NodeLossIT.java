package io.punctual.core.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.store.RedisStore;
import io.punctual.core.store.StoreOptions;
import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import io.punctual.test.redis.RedisCluster;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** One node of a cluster forgets, and the others do not. */
class NodeLossIT extends EngineTestBase {

  private static final RedisCluster CLUSTER = RedisCluster.start();
  private static final JedisConnectionFactory CONNECTIONS = toCluster();

  private static JedisConnectionFactory toCluster() {
    JedisConnectionFactory factory =
        new JedisConnectionFactory(
            new RedisClusterConfiguration(
                CLUSTER.ports().stream().map(port -> "127.0.0.1:" + port).toList()));
    factory.afterPropertiesSet();
    factory.start();
    return factory;
  }

  @AfterAll
  static void stopCluster() {
    CONNECTIONS.destroy();
    CLUSTER.close();
  }

  private Engine watching() {
    Engine engine =
        engine(
            RedisStore.connect(CONNECTIONS, new StoreOptions(prefix, Duration.ofMinutes(10))),
            options("engine"),
            TestDispatcher.done(),
            null);
    eventually()
        .until(() -> CLUSTER.ports().stream().allMatch(port -> markAt(port).contains(":epoch")));
    return engine;
  }

  /** The key of the mark at a node; empty if it has none. */
  private String markAt(int port) {
    try {
      return Resp.call(port, "KEYS", prefix + ":epoch*").strip();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The nodes that have not the mark of the store. */
  private List<Integer> others() throws IOException {
    RedisServer first = CLUSTER.ownerOf(prefix + ":epoch");
    List<Integer> others = new ArrayList<>(CLUSTER.ports());
    others.remove(Integer.valueOf(first.port()));
    return others;
  }

  private static String text(Engine engine) {
    eventually().until(() -> !engine.storeHealth().losses().isEmpty());
    assertThat(engine.storeHealth().losses()).hasSize(1);
    return engine.storeHealth().losses().get(0).text();
  }

  @Test
  void anEmptiedNodeIsNamed() throws IOException {
    Engine engine = watching();
    int emptied = others().get(0);

    Resp.call(emptied, "FLUSHALL");

    assertThat(text(engine)).contains("Redis at 127.0.0.1:" + emptied + " was emptied");
  }

  @Test
  void aNodeThatIsOlderThanItWasIsNamed() throws IOException {
    Engine engine = watching();
    int older = others().get(1);
    String mark = markAt(older);
    eventually().until(() -> Integer.parseInt(Resp.call(older, "HGET", mark, "sequence")) >= 7);

    Resp.call(older, "HSET", mark, "sequence", "4");

    assertThat(text(engine))
        .contains("Redis at 127.0.0.1:" + older + " came back as it was earlier");
  }

  @Test
  void aSlotThatMovesIsNoLoss() throws Exception {
    Engine engine = watching();
    int node = others().get(0);

    CLUSTER.move(markAt(node));

    eventually().until(() -> !markAt(node).isEmpty());
    assertThat(engine.storeHealth().losses()).isEmpty();
  }
}
