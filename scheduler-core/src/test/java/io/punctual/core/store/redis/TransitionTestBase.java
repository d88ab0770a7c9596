package io.punctual.core.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Store;
import io.punctual.core.store.redis.script.Keys;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.core.store.redis.script.TimeSource;
import io.punctual.test.redis.RedisExtension;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

/**
 * One transition on given contents of a bucket, with the time in the test's hand: the complete
 * contents are compared afterwards. One Redis for all classes, one bucket for each test.
 */
abstract class TransitionTestBase {

  static final long NOW = 1_000_000;
  static final long RETENTION = Duration.ofMinutes(10).toMillis();
  static final LeaseToken TOKEN = new LeaseToken("t-1");
  static final Duration LEASE = Duration.ofSeconds(10);

  /** The lease text of {@link #TOKEN}: first attempt, in company, claimed at 990,000. */
  static final String HELD = "t-1 1 0 990000 980000 2 me";

  /** What an ack by the token of {@link #HELD} leaves in the tombstone. */
  static final String NOTE = "1,990000,10000,-";

  static final TimeSource TEST_CLOCK =
      new TimeSource(
          "local function now_ms() return tonumber(redis.call('GET', KEYS[#KEYS])) end", "now");

  private static final Keys KEYS = new Keys("punctual", TEST_CLOCK);

  /** A store on one Redis, and a way past its scripts. */
  record Connected(UnifiedJedis client, Store store) {

    /** To the Redis that all tests share. */
    private static final class Shared {
      static final Connected REDIS =
          to(RedisExtension.redis().host(), RedisExtension.redis().port());
    }

    static Connected to(String host, int port) {
      JedisConnectionFactory connections =
          new JedisConnectionFactory(new RedisStandaloneConfiguration(host, port));
      connections.afterPropertiesSet();
      connections.start();
      return new Connected(
          RedisClient.create(host, port),
          RedisStore.connect(connections, StoreOptions.DEFAULTS, TEST_CLOCK));
    }
  }

  final Bucket bucket = new Bucket(new QueueName("shop", "type-" + UUID.randomUUID()), 0);
  final UnifiedJedis client;
  final JobStore store;
  final BucketReader reader;

  TransitionTestBase() {
    this(Connected.Shared.REDIS);
  }

  TransitionTestBase(Connected redis) {
    client = redis.client();
    store = redis.store().jobs();
    reader = new BucketReader(client, KEYS);
  }

  @BeforeEach
  void startTheClock() {
    nowIs(NOW);
  }

  final void nowIs(long millis) {
    client.set(reader.key(bucket, "now"), Keys.bytes(Long.toString(millis)));
  }

  final void given(BucketState state) {
    reader.write(bucket, state);
    then(state);
  }

  final void then(BucketState expected) {
    assertThat(reader.read(bucket)).isEqualTo(expected);
  }

  final long timeToLive(String suffix) {
    return client.pttl(reader.key(bucket, suffix));
  }

  static byte[] bytes(String text) {
    return BucketReader.bytes(text);
  }

  static String text(byte[] bytes) {
    return BucketReader.text(bytes);
  }
}
