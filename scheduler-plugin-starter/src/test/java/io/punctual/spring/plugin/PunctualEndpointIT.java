package io.punctual.spring.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.DelayedTask;
import io.punctual.InvalidJobException;
import io.punctual.JobInfo;
import io.punctual.RequeueResult;
import io.punctual.TaskSubmitService;
import io.punctual.test.redis.RedisExtension;
import io.punctual.test.redis.SharedRedis;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
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
                "punctual.key-prefix=" + prefix,
                "punctual.concurrency=4",
                "punctual.workers.\"[order.close]\".concurrency=2",
                "punctual.workers.\"[order.close]\".time-to-run=45s")
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
                    2, 1, Duration.ofSeconds(1), Duration.ofSeconds(45), "1s,2s", null),
                "order.refund",
                new PunctualEndpoint.TaskType(4, 0, Duration.ofSeconds(1), null, "never", null)));
    assertThat(all.toString()).doesNotContain("private");
    shop.gate.countDown();
    Awaitility.await().until(() -> endpoint.describe().running() == 0);
  }

  @Test
  void deadLettersAreListedAndRequeued() {
    Shop shop = context.getBean(Shop.class);
    PunctualEndpoint endpoint = context.getBean(PunctualEndpoint.class);
    TaskSubmitService tasks = context.getBean(TaskSubmitService.class);
    shop.broken = true;
    var unused = tasks.job("order.refund", "private").id("r1").in(Duration.ZERO).send();
    Awaitility.await().until(() -> !endpoint.deadLetters("order.refund").isEmpty());

    PunctualEndpoint.DeadLetter dead = endpoint.deadLetters("order.refund").get(0);
    assertThat(dead.taskId()).isEqualTo("r1");
    assertThat(dead.attempts()).isEqualTo(1);
    assertThat(dead.lastError()).contains("no money");
    assertThat(dead.toString()).doesNotContain("private");
    assertThat(tasks.deadLetters("order.refund"))
        .singleElement()
        .satisfies(
            job -> {
              assertThat(job.taskId()).isEqualTo("r1");
              assertThat(job.state()).isEqualTo(JobInfo.State.DEAD);
              assertThat(job.params()).isNull();
            });

    shop.broken = false;
    assertThat(endpoint.requeue("order.refund", "r1")).isEqualTo(Map.of("outcome", "requeued"));
    Awaitility.await().until(() -> shop.refunded.equals(List.of("private")));
    Awaitility.await()
        .until(
            () -> tasks.requeue("order.refund", "r1").outcome() == RequeueResult.Outcome.NOT_DEAD);
    assertThat(endpoint.deadLetters("order.refund")).isEmpty();
    assertThat(endpoint.requeue("order.refund", "none")).isEqualTo(Map.of("outcome", "unknown"));
    assertThatThrownBy(() -> tasks.deadLetters("order.refund", 201))
        .isInstanceOf(InvalidJobException.class)
        .hasMessage("max must be between 1 and 200, but was 201");
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
    final List<String> refunded = new CopyOnWriteArrayList<>();
    volatile boolean broken;

    @DelayedTask(type = "order.refund", retry = "never")
    void refund(String id) {
      if (broken) {
        throw new IllegalStateException("no money");
      }
      refunded.add(id);
    }

    @DelayedTask(type = "order.close", retry = "1s,2s")
    void close(String id) throws InterruptedException {
      gate.await();
    }
  }
}
