package io.punctual.core.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Store;
import io.punctual.core.store.WakeUps;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.redis.Resp;
import io.punctual.test.redis.RedisExtension;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** A subscription shares its connections with commands: nobody must get the reply of another. */
class WakeUpsRaceIT {

  private final JedisConnectionFactory connections =
      new JedisConnectionFactory(
          new RedisStandaloneConfiguration(
              RedisExtension.redis().host(), RedisExtension.redis().port()));
  private final String prefix = "race-" + UUID.randomUUID().toString().substring(0, 8);

  @AfterEach
  void disconnect() {
    connections.destroy();
  }

  @Test
  void endingASubscriptionAtAnyMomentLeavesNoReplyBehind() throws Exception {
    connections.afterPropertiesSet();
    connections.start();
    Store store =
        RedisStore.connect(
            connections, new StoreOptions(prefix, StoreOptions.DEFAULTS.tombstones()));
    AtomicBoolean end = new AtomicBoolean();
    Queue<RuntimeException> failures = new ConcurrentLinkedQueue<>();
    List<Thread> callers =
        Stream.generate(() -> new Thread(() -> call(store, end, failures))).limit(3).toList();
    callers.forEach(Thread::start);

    for (int i = 0; i < 500 && failures.isEmpty(); i++) {
      AutoCloseable first = store.wakeUps().listen(new Deaf());
      AutoCloseable second = store.wakeUps().listen(new Deaf());
      spin();
      first.close();
      spin();
      second.close();
      second.close();
    }
    end.set(true);
    for (Thread caller : callers) {
      caller.join(20_000);
    }

    assertThat(failures).isEmpty();
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .until(
            () ->
                Resp.call(RedisExtension.redis().port(), "PUBSUB", "NUMSUB", prefix + ":wake")
                    .endsWith("\n0"));
  }

  private static void call(Store store, AtomicBoolean end, Queue<RuntimeException> failures) {
    Bucket bucket = new Bucket(new QueueName("shop", "order.close"), 0);
    try {
      while (!end.get()) {
        assertThat(
                store
                    .jobs()
                    .claim(
                        bucket,
                        1,
                        Duration.ofSeconds(1),
                        JobStore.ClaimMode.PUSH,
                        new LeaseToken("t"),
                        "me"))
            .isNotNull();
        assertThat(store.jobs().stats(bucket).delayed()).isZero();
      }
    } catch (RuntimeException e) {
      failures.add(e);
    }
  }

  private static void spin() {
    long until = System.nanoTime() + ThreadLocalRandom.current().nextLong(2_000_000);
    while (System.nanoTime() < until) {
      Thread.onSpinWait();
    }
  }

  private static final class Deaf implements WakeUps.Listener {
    @Override
    public void newHead(Bucket bucket, long due) {}

    @Override
    public void offered(Bucket bucket, long due) {}

    @Override
    public void cancelling(Bucket bucket, String taskId) {}

    @Override
    public void membersChanged() {}

    @Override
    public void gap() {}

    @Override
    public void lost() {}
  }
}
