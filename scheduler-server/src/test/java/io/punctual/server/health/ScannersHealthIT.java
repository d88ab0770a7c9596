package io.punctual.server.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.DelayQueueJob;
import io.punctual.core.Delivery;
import io.punctual.core.Dispatcher;
import io.punctual.core.Engine;
import io.punctual.core.EngineOptions;
import io.punctual.core.job.QueueName;
import io.punctual.core.runtime.Engines;
import io.punctual.core.store.Store;
import io.punctual.core.store.redis.RedisStore;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.test.redis.RedisExtension;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.Status;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** A scanner that meets a defect. */
@Tag("full")
class ScannersHealthIT {

  private static final Dispatcher NOBODY =
      new Dispatcher() {
        @Override
        public int capacity(QueueName queue) {
          return 0;
        }

        @Override
        public void dispatch(QueueName queue, List<Delivery> deliveries) {}
      };

  @Test
  void aDefectIsShownUntilTheScannerWorksAgain() throws Exception {
    JedisConnectionFactory connections =
        new JedisConnectionFactory(
            new RedisStandaloneConfiguration(
                RedisExtension.redis().host(), RedisExtension.redis().port()));
    connections.afterPropertiesSet();
    connections.start();
    String prefix = "scanners-" + UUID.randomUUID().toString().substring(0, 8);
    Store store = RedisStore.connect(connections, new StoreOptions(prefix, Duration.ofMinutes(10)));
    AtomicBoolean broken = new AtomicBoolean();
    EngineOptions options =
        EngineOptions.defaults("test")
            .with()
            .safetyCheck(
                queue -> {
                  if (broken.get()) {
                    throw new IllegalStateException("broken by the test");
                  }
                  return Duration.ofMillis(10);
                })
            .build();
    try (Engine engine = Engines.create(store, options, NOBODY)) {
      ScannersHealthIndicator health = new ScannersHealthIndicator(engine);
      engine.start();
      DelayQueueJob job = DelayQueueJob.of("order.close").delay(Duration.ofMillis(1)).build();
      engine.submit("shop", job, false).get(20, TimeUnit.SECONDS);
      await(health, Status.UP, "running", 1);

      broken.set(true);
      await(
          health,
          HealthStatus.WARNING,
          "defects",
          Map.of(
              "The scanner of shop/order.close#0",
              "java.lang.IllegalStateException: broken by the test"));
      broken.set(false);
      await(health, Status.UP, "running", 1);

      engine.stop(Duration.ofSeconds(1));
      await(health, Status.UP, "running", 0);
    } finally {
      connections.destroy();
    }
  }

  private static void await(
      ScannersHealthIndicator health, Status status, String detail, Object value) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(
            () -> {
              assertThat(health.health().getStatus()).isEqualTo(status);
              assertThat(health.health().getDetails()).containsEntry(detail, value);
            });
  }
}
