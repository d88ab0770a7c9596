package io.punctual.core.store.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.punctual.core.job.Due;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.Store;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.Submitted;
import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

class StandaloneStoreIT extends StoreContract {

  private static final RedisServer SERVER = RedisServer.startTemporary();
  private static final JedisConnectionFactory CONNECTIONS =
      started(
          new JedisConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", SERVER.port())));

  static JedisConnectionFactory started(JedisConnectionFactory connections) {
    connections.afterPropertiesSet();
    connections.start();
    return connections;
  }

  @AfterAll
  static void stop() {
    CONNECTIONS.destroy();
    SERVER.close();
  }

  @Test
  void aUserWhoMayNotUseTheChannelStoresJobsAllTheSame() throws Exception {
    Resp.call(
        SERVER.port(), "ACL", "SETUSER", "mute", "on", ">secret", "~*", "+@all", "resetchannels");
    RedisStandaloneConfiguration configuration =
        new RedisStandaloneConfiguration("127.0.0.1", SERVER.port());
    configuration.setUsername("mute");
    configuration.setPassword("secret");
    JedisConnectionFactory connections = started(new JedisConnectionFactory(configuration));
    Store mute = RedisStore.connect(connections, options);
    Hearing hearing = new Hearing();
    AutoCloseable listening = mute.wakeUps().listen(hearing);

    Submitted submitted = mute.jobs().submit(bucket, List.of(job("a", Due.in(60_000))));
    assertThat(submitted.items().get(0).kind()).isEqualTo(Submitted.Kind.CREATED);
    assertThat(submitted.newHead()).isNotNull();
    eventually()
        .until(() -> Resp.call(SERVER.port(), "ACL", "LOG").contains(options.prefix() + ":wake"));
    for (int i = 0; i < 50; i++) {
      assertThat(mute.jobs().stats(bucket).delayed()).isEqualTo(1);
    }

    listening.close();
    assertThat(hearing.heard).containsOnly("lost");
    connections.destroy();
  }

  @Test
  void anUnreadableNumberOfBucketsIsAnOperatorsMatter() throws Exception {
    Resp.call(SERVER.port(), "HSET", options.prefix() + ":queues", "shop:bad", "many");
    Resp.call(SERVER.port(), "HSET", options.prefix() + ":queues", "not-ours", "1");

    for (ThrowingCallable call :
        List.<ThrowingCallable>of(
            () -> store.queues().register(new QueueName("shop", "bad"), 1),
            () -> store.queues().buckets(new QueueName("shop", "bad")),
            () -> store.queues().all())) {
      StoreException refused = catchThrowableOfType(StoreException.class, call);
      assertThat(refused.kind()).isEqualTo(StoreException.Kind.CORRUPT);
      assertThat(refused).hasMessageContaining("shop/bad").hasMessageContaining("'many'");
    }
  }

  @Override
  RedisConnectionFactory connections() {
    return CONNECTIONS;
  }

  @Override
  List<Integer> servers() {
    return List.of(SERVER.port());
  }
}
