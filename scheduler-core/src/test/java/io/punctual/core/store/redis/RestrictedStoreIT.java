package io.punctual.core.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.store.durability.StoreNode;
import io.punctual.core.store.durability.StoreNode.Persistence;
import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** The contract, with no more rights than docs/redis.acl gives. */
@Tag("full")
class RestrictedStoreIT extends StoreContract {

  private static final RedisServer SERVER = RedisServer.startTemporary();
  private static final JedisConnectionFactory CONNECTIONS = connect();

  private static JedisConnectionFactory connect() {
    RedisStandaloneConfiguration configuration =
        new RedisStandaloneConfiguration("127.0.0.1", SERVER.port());
    configuration.setUsername(AclFile.USER);
    configuration.setPassword(AclFile.PASSWORD);
    return StandaloneStoreIT.started(new JedisConnectionFactory(configuration));
  }

  @AfterAll
  static void stop() {
    CONNECTIONS.destroy();
    SERVER.close();
  }

  /** The rights are for the prefix of this test alone. */
  @Override
  RedisConnectionFactory connections() {
    try {
      Resp.call(SERVER.port(), AclFile.standalone().setUser(options.prefix()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return CONNECTIONS;
  }

  @Override
  List<Integer> servers() {
    return List.of(SERVER.port());
  }

  @Test
  void theServerIsJudgedByWhatInfoSays() throws IOException {
    Resp.call(SERVER.port(), "CONFIG", "SET", "maxmemory", "100mb");
    Resp.call(SERVER.port(), "CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    Resp.call(SERVER.port(), "CONFIG", "SET", "appendonly", "no");
    try {
      StoreNode node = store.inspector().nodes().get(0);
      assertThat(node.persistence()).isEqualTo(Persistence.NO_LOG);
      assertThat(node.findings())
          .extracting(StoreNode.Finding::text)
          .anyMatch(text -> text.contains("set maxmemory-policy noeviction"))
          .anyMatch(text -> text.contains("set appendonly yes"))
          .hasSize(2);
    } finally {
      Resp.call(SERVER.port(), "CONFIG", "SET", "maxmemory", "0");
      Resp.call(SERVER.port(), "CONFIG", "SET", "maxmemory-policy", "noeviction");
      Resp.call(SERVER.port(), "CONFIG", "SET", "appendonly", "yes");
    }
    StoreNode node = store.inspector().nodes().get(0);
    assertThat(node.persistence()).isEqualTo(Persistence.LOG);
    assertThat(node.maxMemory()).isZero();
    assertThat(node.findings()).isEmpty();
  }
}
