package io.punctual.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.DelayedTask;
import io.punctual.TaskSubmitService;
import io.punctual.test.redis.RedisExtension;
import io.punctual.test.redis.SharedRedis;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.ConfigurableApplicationContext;

/** What an application in plugin mode says of itself, on a real Redis. */
class PunctualEndpointIT {

  private static final SharedRedis redis = RedisExtension.redis();

  private final String prefix = "t" + UUID.randomUUID().toString().substring(0, 8);
  private ConfigurableApplicationContext context;

  @BeforeEach
  void start() {
    context =
        new SpringApplicationBuilder(Shop.class)
            .properties(
                "spring.application.name=shop",
                "spring.data.redis.host=" + redis.host(),
                "spring.data.redis.port=" + redis.port(),
                "management.endpoints.web.exposure.include=punctual",
                "punctual.plugin.key-prefix=" + prefix,
                "punctual.plugin.concurrency=4",
                "punctual.plugin.queues[0].task-type=order.close",
                "punctual.plugin.queues[0].threads=2",
                "punctual.plugin.queues[0].time-to-run=45s")
            .run();
  }

  @AfterEach
  void stop() {
    context.close();
  }

  @Test
  void theEndpointSaysWhatRunsHereAndWhatItStandsOn() {
    Shop shop = context.getBean(Shop.class);
    PunctualEndpoint endpoint = context.getBean(PunctualEndpoint.class);
    context.getBean(TaskSubmitService.class).send("order.close", "private", Duration.ZERO);
    Awaitility.await().until(() -> endpoint.describe().running() == 1);

    PunctualEndpoint.Description all = endpoint.describe();
    assertThat(all.application()).isEqualTo("shop");
    assertThat(all.delivery()).isEqualTo("in-process");
    assertThat(all.keyPrefix()).isEqualTo(prefix);
    assertThat(all.scanners().running()).isPositive();
    assertThat(all.store().error()).isNull();
    assertThat(all.taskTypes())
        .isEqualTo(
            Map.of(
                "order.close",
                new PunctualEndpoint.TaskType(
                    2, 1, Duration.ofSeconds(1), Duration.ofSeconds(45), "1s,2s", null)));
    assertThat(all.toString()).doesNotContain("private");
    shop.gate.countDown();
    Awaitility.await().until(() -> endpoint.describe().running() == 0);
  }

  @Test
  void healthIsNeverDownForWhatAStartDoesNotMend() {
    Health health = Objects.requireNonNull(context.getBean(PunctualHealthIndicator.class).health());

    // The tests' Redis keeps nothing, of which it warns.
    assertThat(health.getStatus()).isIn(Status.UP, PunctualHealthIndicator.WARNING);
    assertThat(health.getDetails()).containsKey("scanners");
  }

  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class Shop {

    final CountDownLatch gate = new CountDownLatch(1);

    @DelayedTask(type = "order.close", retry = "1s,2s")
    void close(String id) throws InterruptedException {
      gate.await();
    }
  }
}
