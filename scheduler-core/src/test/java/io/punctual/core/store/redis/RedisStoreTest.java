package io.punctual.core.store.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.punctual.core.store.redis.script.LuaScript;
import io.punctual.core.store.redis.script.StoreOptions;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class RedisStoreTest {

  @Test
  void theOldFormOfTheDriverIsRefused() {
    JedisConnectionFactory old = new JedisConnectionFactory();
    old.setUseUnifiedJedis(false);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RedisStore.connect(old, StoreOptions.DEFAULTS))
        .withMessageEndingWith("remove setUseUnifiedJedis(false)");
  }

  @Test
  void aDriverThatRepeatsCommandsByItselfIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RedisStore.connect(new LettuceConnectionFactory(), StoreOptions.DEFAULTS))
        .withMessage(
            "Punctual needs a JedisConnectionFactory, not LettuceConnectionFactory:"
                + " set spring.data.redis.client-type=jedis");
  }

  @Test
  void connectingNeedsNoRedisYet() {
    assertThat(RedisStore.connect(new JedisConnectionFactory(), StoreOptions.DEFAULTS)).isNotNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a b", "a:b", "{a}", "123456789012345678901234567890123"})
  void aPrefixThatCouldBreakTheKeysIsRefused(String prefix) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new StoreOptions(prefix, Duration.ofMinutes(10)))
        .withMessageContaining("prefix");
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT0.999S", "PT168H0.001S"})
  void tombstonesHaveARange(String duration) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new StoreOptions("p", Duration.parse(duration)))
        .withMessageContaining("between 1 s and 7 days");
  }

  @Test
  void theProductionScriptsReadTheTimeFromRedisAlone() throws IOException, URISyntaxException {
    Path lua =
        Path.of(
                Objects.requireNonNull(
                        RedisStore.class.getResource("/io/punctual/core/lua/claim.lua"))
                    .toURI())
            .getParent();
    try (Stream<Path> files = Files.walk(lua)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        assertThat(Files.readString(file)).as("%s", file).doesNotContain("KEYS[16]");
      }
    }
    for (String script : Calls.all().keySet()) {
      String text =
          new String(LuaScript.load(script, LuaScript::read).text(), StandardCharsets.UTF_8);
      // What a bucket takes does not depend on the time.
      int reads = script.equals("usage") ? 0 : 1;
      assertThat(text.split("redis.call\\('TIME'\\)", -1)).as(script).hasSize(reads + 1);
      assertThat(text.split("function now_ms", -1)).as(script).hasSize(reads + 1);
    }
  }
}
