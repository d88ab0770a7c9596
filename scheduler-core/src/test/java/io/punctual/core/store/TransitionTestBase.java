package io.punctual.core.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.queue.Bucket;
import io.punctual.core.queue.QueueName;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

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
  static final String HELD = "t-1 1 0 990000 980000 me";

  static final TimeSource TEST_CLOCK =
      new TimeSource(
          "local function now_ms() return tonumber(redis.call('GET', KEYS[11])) end", "now");

  private static final AtomicInteger BUCKETS = new AtomicInteger();
  private static final Keys KEYS = new Keys("punctual", TEST_CLOCK);

  final Bucket bucket = new Bucket(new QueueName("shop", "type-" + BUCKETS.incrementAndGet()), 0);
  final JobStore store = Shared.STORE.jobs();
  final BucketReader reader = new BucketReader(Shared.REDIS.client(), KEYS);

  /** Started with the first test, ended with the JVM. */
  static final class Shared {
    static final RedisProcess REDIS = new RedisProcess();
    static final Store STORE = connect(REDIS);

    private Shared() {}
  }

  static Store connect(RedisProcess redis) {
    JedisConnectionFactory connections =
        new JedisConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", redis.port()));
    connections.afterPropertiesSet();
    connections.start();
    return RedisStore.connect(connections, StoreOptions.DEFAULTS, TEST_CLOCK);
  }

  @BeforeEach
  void startTheClock() {
    nowIs(NOW);
  }

  final void nowIs(long millis) {
    Shared.REDIS.client().set(reader.key(bucket, "now"), Keys.bytes(Long.toString(millis)));
  }

  final void given(BucketState state) {
    reader.write(bucket, state);
    then(state);
  }

  final void then(BucketState expected) {
    assertThat(reader.read(bucket)).isEqualTo(expected);
  }

  final long timeToLive(String suffix) {
    return Shared.REDIS.client().pttl(reader.key(bucket, suffix));
  }

  static byte[] bytes(String text) {
    return BucketReader.bytes(text);
  }

  static String text(byte[] bytes) {
    return BucketReader.text(bytes);
  }
}
