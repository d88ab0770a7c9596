package io.punctual.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

class ApplicationTokensIT {

  private static final RedisServer REDIS = RedisServer.startTemporary();
  private static final Pattern CALLS = Pattern.compile("cmdstat_h[a-z]+:calls=(\\d+)");

  private final JedisConnectionFactory connections =
      new JedisConnectionFactory(
          new RedisStandaloneConfiguration("127.0.0.1", REDIS.port()),
          JedisClientConfiguration.builder().readTimeout(Duration.ofSeconds(1)).build());
  private final AtomicLong ticks = new AtomicLong(Long.MAX_VALUE - 5);
  private ApplicationTokens tokens;

  @AfterAll
  static void stop() {
    REDIS.close();
  }

  @BeforeEach
  void connect() throws IOException {
    connections.afterPropertiesSet();
    connections.start();
    Resp.call(REDIS.port(), "FLUSHALL");
    tokens =
        new ApplicationTokens(
            new StringRedisTemplate(connections), "p", ticks::get, InstantSource.system());
  }

  @AfterEach
  void disconnect() {
    connections.destroy();
  }

  private void pass(Duration time) {
    ticks.addAndGet(time.toNanos());
  }

  private boolean isKnown(String token) {
    return tokens.find(token).isPresent();
  }

  private static String madeUp(int i) {
    return "pct_%012x_%s".formatted(i, "A".repeat(43));
  }

  /** Commands on hashes since the server began. */
  private static int calls() throws IOException {
    Matcher calls = CALLS.matcher(Resp.call(REDIS.port(), "INFO", "commandstats"));
    int sum = 0;
    while (calls.find()) {
      sum += Integer.parseInt(calls.group(1));
    }
    return sum;
  }

  @Test
  void tokensThatSomebodyMadeUpDoNotReachRedis() throws IOException {
    String token = tokens.create("shop");
    assertThat(isKnown(token)).isTrue();
    int before = calls();

    for (int i = 0; i < 1_000; i++) {
      assertThat(isKnown(madeUp(i))).isFalse();
    }

    assertThat(calls() - before).isZero();
    pass(ApplicationTokens.AGAIN);
    for (int i = 0; i < 1_000; i++) {
      assertThat(isKnown(madeUp(i))).isFalse();
    }
    assertThat(calls() - before).isEqualTo(1);
    assertThat(isKnown(token)).isTrue();
  }

  @Test
  void aNewTokenWorksWithinASecondAndARevokedOneNoMoreWithinFive() {
    String first = tokens.create("shop");
    assertThat(isKnown(first)).isTrue();
    String second = tokens.create("shop");
    pass(ApplicationTokens.AGAIN);
    assertThat(isKnown(second)).isTrue();

    assertThat(tokens.revoke(first.substring(4, 16))).isTrue();
    pass(ApplicationTokens.TRUST);
    assertThat(isKnown(first)).isFalse();
    assertThat(isKnown(second)).isTrue();
    // Of the right id, and another secret.
    assertThat(isKnown(second.substring(0, 17) + "A".repeat(43))).isFalse();
  }

  @Test
  void whileRedisIsAwayKnownTokensWorkAndOthersAreUndecided() throws IOException {
    String token = tokens.create("shop");
    assertThat(isKnown(token)).isTrue();
    REDIS.suspend();
    try {
      pass(ApplicationTokens.TRUST);
      assertThat(isKnown(token)).isTrue();
      long begun = System.nanoTime();
      for (int i = 0; i < 1_000; i++) {
        String stranger = madeUp(i);
        assertThatThrownBy(() -> isKnown(stranger)).isInstanceOf(DataAccessException.class);
      }
      assertThat(Duration.ofNanos(System.nanoTime() - begun))
          .as("each of them asked Redis")
          .isLessThan(Duration.ofSeconds(30));
    } finally {
      REDIS.resume();
    }
    pass(ApplicationTokens.AGAIN);
    assertThat(isKnown(madeUp(1))).isFalse();
    assertThat(isKnown(token)).isTrue();
  }

  @Test
  void aDamagedEntryShutsNobodyOut() throws IOException {
    String token = tokens.create("shop");
    Resp.call(REDIS.port(), "HSET", "p:tokens", "000000000001", "shop nonsense");

    assertThat(isKnown(token)).isTrue();
    assertThat(isKnown(madeUp(1))).isFalse();
    assertThat(tokens.all()).hasSize(1);
  }
}
