package io.punctual.core.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.Due;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.durability.StoreNode;
import io.punctual.redis.Resp;
import io.punctual.test.redis.RedisSentinels;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

@Tag("full")
class SentinelStoreIT extends StoreContract {

  // The only fail-over is the one that is asked for.
  private static final RedisSentinels SETUP = RedisSentinels.start(Duration.ofMinutes(1));
  private static final JedisConnectionFactory CONNECTIONS = connect();

  private static JedisConnectionFactory connect() {
    return StandaloneStoreIT.started(
        new JedisConnectionFactory(
            new RedisSentinelConfiguration(RedisSentinels.MASTER, Set.copyOf(SETUP.addresses()))));
  }

  @AfterAll
  static void stop() {
    CONNECTIONS.destroy();
    SETUP.close();
  }

  @Override
  RedisConnectionFactory connections() {
    return CONNECTIONS;
  }

  @Override
  List<Integer> servers() {
    return List.of(master());
  }

  private static int master() {
    try {
      return SETUP.master();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  @Test
  void howTheSentinelsAreSetUpIsReadFromThem() throws IOException {
    assertThat(findings(Duration.ofSeconds(30)))
        .containsExactly(
            "Sentinel's punctual is failed over only after 60000 ms without an answer"
                + " (down-after-milliseconds): jobs wait for that long, and leases of 30000 ms can"
                + " expire meanwhile; set down-after-milliseconds 5000");
    try {
      set("quorum", "3");
      // No fail-over by mistake: the primary would have to be silent for that long.
      set("down-after-milliseconds", "15000");
      assertThat(findings(Duration.ofSeconds(30)))
          .containsExactly(
              "Sentinel's punctual fails over only while all 3 Sentinels live, since quorum is 3;"
                  + " set quorum 2");
      set("quorum", "2");
      assertThat(findings(Duration.ofSeconds(30))).isEmpty();
      assertThat(findings(Duration.ofSeconds(8)))
          .singleElement()
          .asString()
          .contains("only after 15000 ms", "leases of 8000 ms")
          .endsWith("set down-after-milliseconds 4000");
    } finally {
      set("quorum", "2");
      set("down-after-milliseconds", "60000");
    }
  }

  private List<String> findings(Duration lease) {
    return store.inspector().failOver(lease).stream().map(StoreNode.Finding::text).toList();
  }

  private static void set(String setting, String value) throws IOException {
    for (String address : SETUP.addresses()) {
      int port = Integer.parseInt(address.substring(address.indexOf(':') + 1));
      assertThat(Resp.call(port, "SENTINEL", "SET", RedisSentinels.MASTER, setting, value))
          .isEqualTo("OK");
    }
  }

  @Test
  void theNewMasterIsFollowedAfterAFailOver() throws Exception {
    Hearing hearing = new Hearing();
    try (AutoCloseable listening = store.wakeUps().listen(hearing)) {
      assertThat(listening).isNotNull();
      assertThat(hearing.next()).isEqualTo("gap");
      submit(bucket, "before", Due.at(9_000_000_000_000L));
      assertThat(hearing.next()).isEqualTo("shop/order.close#0 9000000000000");
      int before = master();
      eventually().until(() -> Resp.call(before, "WAIT", "1", "1000").equals("1"));

      SETUP.failOver();

      eventually()
          .ignoreExceptionsInstanceOf(StoreException.class)
          .until(() -> submit(bucket, "after", Due.at(9_000_000_000_001L)) != null);
      assertThat(jobs.stats(bucket).delayed()).isEqualTo(2);
      assertThat(hearing.next()).isEqualTo("lost");
      assertThat(hearing.next()).isEqualTo("gap");
    }
  }
}
