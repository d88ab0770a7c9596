package io.punctual.test.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.redis.MutantStore;
import io.punctual.test.redis.RedisExtension;
import io.punctual.test.redis.SharedRedis;
import io.punctual.test.store.RedisBucketReader;
import java.time.Duration;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import redis.clients.jedis.Jedis;

/**
 * Three schedulers over the real scripts in virtual time, with crashes, pauses longer than a lease,
 * lost answers and doubled requests; then the faults stop and everything must drain.
 *
 * <p>{@code -Dpunctual.simulation.runs=N} sets the number, {@code -Dpunctual.simulation.seed=S}
 * repeats one.
 */
@ExtendWith(RedisExtension.class)
@Tag("full")
class SimulationIT {

  private static final String PREFIX = "simulation";
  private static final Bucket BUCKET = new Bucket(new QueueName("simulation", "run"), 0);

  @Test
  void nothingIsLostAndNothingOverlapsWhateverFails(SharedRedis redis) {
    int runs = Integer.getInteger("punctual.simulation.runs", 120);
    Long repeated = Long.getLong("punctual.simulation.seed");
    long fresh = System.nanoTime() % 1_000_000_000;
    System.out.printf(
        "Simulation: %d runs, seeds 0.. and %d..; repeat one with"
            + " -Dpunctual.simulation.seed=SEED%n",
        runs, fresh);
    withStore(
        redis,
        file -> MutantStore.shipped(file),
        (store, reader) -> {
          if (repeated != null) {
            check(store, reader, repeated);
            return;
          }
          for (int i = 0; i < runs / 2; i++) {
            check(store, reader, i);
            check(store, reader, fresh + i);
          }
        });
  }

  @Test
  void aSettleThatForgetsTheLeaseTokenIsFoundOut(SharedRedis redis) {
    findsOut(redis, "settle", "and job.lease and job.lease.token == token", "and job.lease");
  }

  @Test
  void anExpireThatTakesLeasesTooEarlyIsFoundOut(SharedRedis redis) {
    findsOut(redis, "expire", "'-inf', int(ended)", "'-inf', int(ended + 80)");
  }

  @Test
  void aClaimThatTakesJobsTooEarlyIsFoundOut(SharedRedis redis) {
    findsOut(redis, "claim", "'-inf', now_text", "'-inf', int(now + 20)");
  }

  @Test
  void anAckThatForgetsTheSuccessorIsFoundOut(SharedRedis redis) {
    findsOut(
        redis, "settle", "behind and behind.succeed(id, 0)\n  return due", "nil\n  return due");
  }

  @Test
  void aDebounceWithoutABoundIsFoundOut(SharedRedis redis) {
    findsOut(redis, "submit", "+ job.at_most)", "+ 100 * job.at_most)");
  }

  @Test
  void anEventThatIsForgottenIsFoundOut(SharedRedis redis) {
    findsOut(redis, "events/remembered", "and '1' or '0'", "and '0' or '0'");
  }

  @Test
  void aTagThatFindsNoJobIsFoundOut(SharedRedis redis) {
    findsOut(redis, "lib/job", "add(TAGS, '0', tag .. ' ' .. id)", "add(TAGS, '0', tag .. id)");
  }

  @Test
  void anExpireThatForgetsACancelIsFoundOut(SharedRedis redis) {
    findsOut(redis, "expire", "if lease.cancelling then", "if false then");
  }

  private static void findsOut(SharedRedis redis, String file, String right, String mistake) {
    assertThat(MutantStore.shipped(file)).contains(right);
    withStore(
        redis,
        asked ->
            asked.equals(file)
                ? MutantStore.shipped(file).replace(right, mistake)
                : MutantStore.shipped(asked),
        (store, reader) ->
            assertThat(
                    IntStream.range(0, 500)
                        .anyMatch(seed -> !new World(store, reader, BUCKET, seed).run().isEmpty()))
                .isTrue());
  }

  private static void withStore(
      SharedRedis redis,
      UnaryOperator<String> scripts,
      BiConsumer<JobStore, RedisBucketReader> test) {
    JedisConnectionFactory connections =
        new JedisConnectionFactory(new RedisStandaloneConfiguration(redis.host(), redis.port()));
    connections.afterPropertiesSet();
    connections.start();
    try (Jedis jedis = new Jedis(redis.host(), redis.port())) {
      JobStore store = MutantStore.of(connections, PREFIX, Duration.ofHours(1), scripts);
      test.accept(store, new RedisBucketReader(jedis, PREFIX, BUCKET));
    } finally {
      connections.destroy();
    }
  }

  private static void check(JobStore store, RedisBucketReader reader, long seed) {
    List<String> wrong = new World(store, reader, BUCKET, seed).run();
    assertThat(wrong).as("seed " + seed).isEmpty();
  }
}
