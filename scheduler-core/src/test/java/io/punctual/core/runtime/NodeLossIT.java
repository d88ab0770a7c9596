package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.Engine;
import io.punctual.core.StoreHealth;
import io.punctual.core.store.durability.LossEntry;
import io.punctual.core.store.redis.RedisStore;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import io.punctual.test.redis.RedisCluster;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** One node of a cluster forgets, and the others do not. */
@Tag("full")
class NodeLossIT extends EngineTestBase {

  private static final RedisCluster CLUSTER = RedisCluster.start();
  private static final JedisConnectionFactory CONNECTIONS =
      connectionsTo(CLUSTER, Duration.ofSeconds(2));

  // What belongs to the store as a whole is at one node, so that the others may be away.
  private final String keyPrefix = prefixAtOneNode();

  private static String prefixAtOneNode() {
    try {
      for (int i = 0; ; i++) {
        String prefix = "t" + UUID.randomUUID().toString().substring(0, 8) + i;
        RedisServer node = CLUSTER.ownerOf(prefix + ":epoch");
        if (CLUSTER.ownerOf(prefix + ":losses") == node
            && CLUSTER.ownerOf(prefix + ":journal") == node) {
          return prefix;
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static JedisConnectionFactory connectionsTo(RedisCluster cluster, Duration readTimeout) {
    return connections(
        cluster, JedisClientConfiguration.builder().readTimeout(readTimeout).usePooling().build());
  }

  @AfterAll
  static void stopCluster() {
    CONNECTIONS.destroy();
    CLUSTER.close();
  }

  private Engine watching(JedisConnectionFactory connections) {
    return engine(
        RedisStore.connect(connections, new StoreOptions(keyPrefix, Duration.ofMinutes(10))),
        options("engine"),
        TestDispatcher.done(),
        null);
  }

  private Engine watching() {
    Engine engine = watching(CONNECTIONS);
    awaitMarks(CLUSTER);
    return engine;
  }

  private void awaitMarks(RedisCluster cluster) {
    eventually()
        .until(() -> cluster.ports().stream().allMatch(port -> markAt(port).contains(":epoch")));
  }

  /** The key of the mark at a node; empty if it has none. */
  private String markAt(int port) {
    try {
      return Resp.call(port, "KEYS", keyPrefix + ":epoch*").strip();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The nodes that have not the mark of the store. */
  private List<Integer> others() throws IOException {
    RedisServer first = CLUSTER.ownerOf(keyPrefix + ":epoch");
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

  @Test
  void aNodeThatWasAwayAtALookIsSeenToBeRestarted() throws IOException {
    for (int port : CLUSTER.ports()) {
      Resp.call(port, "CONFIG", "SET", "cluster-require-full-coverage", "no");
    }
    Engine engine = watching();
    RedisServer node = CLUSTER.ownerOf(markAt(others().get(0)));
    eventually().until(() -> engine.storeHealth().nodes().size() == 3);

    Instant killed = Instant.now();
    node.kill();
    eventually().until(() -> isMissing(engine.storeHealth()));
    node.start();

    eventually().until(() -> engine.lossJournal().newest() > 0);
    assertThat(engine.lossJournal().entries())
        .singleElement()
        .returns(LossEntry.Kind.RESTARTED, LossEntry::kind)
        .satisfies(entry -> assertThat(entry.asOf()).isBefore(killed));
    eventually().until(() -> engine.storeHealth().error() == null);
    for (int port : CLUSTER.ports()) {
      eventually().until(() -> Resp.call(port, "CLUSTER", "INFO").contains("cluster_state:ok"));
    }
  }

  private static boolean isMissing(StoreHealth health) {
    return health.nodes().size() < 3
        || health.findings().stream().anyMatch(f -> f.text().contains("does not answer"));
  }

  @Test
  void aReplicaThatIsPromotedMayLackTheLastChanges() throws IOException {
    try (RedisCluster cluster = RedisCluster.startWithReplicas()) {
      JedisConnectionFactory connections = connectionsTo(cluster, Duration.ofSeconds(2));
      Engine engine = watching(connections);
      eventually().until(() -> engine.storeHealth().nodes().size() == 3);
      // Without it, the replica would be an emptied node.
      awaitMarks(cluster);
      RedisServer first = cluster.ownerOf(keyPrefix + ":epoch");
      int i = 0;
      while (cluster.ownerOf("any" + i) == first) {
        i++;
      }

      Instant killed = Instant.now();
      cluster.ownerOf("any" + i).kill();

      LossEntry promoted =
          eventually()
              .atMost(Duration.ofMinutes(1))
              .until(
                  () ->
                      engine.lossJournal().entries().stream()
                          .filter(entry -> entry.kind() == LossEntry.Kind.RESTARTED)
                          .findFirst()
                          .orElse(null),
                  Objects::nonNull);
      assertThat(promoted.asOf()).isBefore(killed);
      engine.close();
      connections.destroy();
    }
  }

  @Test
  void aNodeThatDoesNotAnswerHoldsUpNoEntryForAnother() throws IOException {
    watching().close();
    int hung = others().get(0);
    final int emptied = others().get(1);
    JedisConnectionFactory impatient = connectionsTo(CLUSTER, Duration.ofSeconds(1));
    // It ends by itself: what would end it sooner is not answered either.
    Resp.call(hung, "CLIENT", "PAUSE", "30000", "ALL");

    String mark = markAt(emptied);
    // The engine before may move it on once more.
    int before = Integer.parseInt(Resp.call(emptied, "HGET", mark, "sequence"));
    Engine engine = watching(impatient);
    eventually()
        .until(() -> Integer.parseInt(Resp.call(emptied, "HGET", mark, "sequence")) > before + 1);
    eventually().until(() -> engine.lossJournal().store() != null);
    eventually().until(() -> engine.storeHealth().error() == null);
    Resp.call(emptied, "FLUSHALL");

    eventually()
        .atMost(Duration.ofSeconds(20))
        .until(
            () ->
                engine.lossJournal().entries().stream()
                    .anyMatch(entry -> entry.kind() == LossEntry.Kind.EMPTIED));
    engine.close();
    impatient.destroy();
    eventually()
        .atMost(Duration.ofMinutes(1))
        .ignoreExceptions()
        .until(() -> Resp.call(hung, "PING").equals("PONG"));
  }

  @Test
  void aNodeThatRefusesToBeReadHoldsUpNoEntryForAnother() throws IOException {
    watching().close();
    int refusing = others().get(0);
    Resp.call(refusing, "ACL", "SETUSER", "default", "-info");
    try {
      Engine engine = watching();
      eventually().until(() -> String.valueOf(engine.storeHealth().error()).contains("NOPERM"));
      assertThat(engine.lossJournal().store()).isNotNull();
      Resp.call(others().get(1), "FLUSHALL");

      eventually()
          .until(
              () ->
                  engine.lossJournal().entries().stream()
                      .anyMatch(entry -> entry.kind() == LossEntry.Kind.EMPTIED));
      // Engines that start later read it from Redis.
      int first = CLUSTER.ownerOf(keyPrefix + ":losses").port();
      eventually().until(() -> Resp.call(first, "HLEN", keyPrefix + ":losses").equals("1"));
      assertThat(engine.storeHealth().losses()).hasSize(1);
    } finally {
      Resp.call(refusing, "ACL", "SETUSER", "default", "+info");
    }
  }
}
