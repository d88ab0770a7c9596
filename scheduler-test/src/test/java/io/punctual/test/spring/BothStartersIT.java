package io.punctual.test.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.observation.ObservationRegistry;
import io.punctual.DelayQueueJob;
import io.punctual.DelayedTask;
import io.punctual.SchedulerUnavailableException;
import io.punctual.TaskSubmitService;
import io.punctual.client.run.JobRunner;
import io.punctual.core.Engine;
import io.punctual.spring.observation.JobInvokeContext;
import io.punctual.test.redis.RedisExtension;
import io.punctual.test.redis.SharedRedis;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

/** An application that moves from plugin mode to service mode has both starters for a while. */
class BothStartersIT {

  private static final SharedRedis REDIS = RedisExtension.redis();
  private static final String NO_SCHEDULER = "http://127.0.0.1:1";

  private final String prefix = "t" + UUID.randomUUID().toString().substring(0, 8);

  @SpringBootConfiguration
  @EnableAutoConfiguration(exclude = DataSourceAutoConfiguration.class)
  static class Shop {

    final Queue<String> ran = new ConcurrentLinkedQueue<>();

    final Queue<String> deliveries = new ConcurrentLinkedQueue<>();

    @Bean
    ObservationRegistry observations() {
      ObservationRegistry registry = ObservationRegistry.create();
      registry
          .observationConfig()
          .observationHandler(
              context -> {
                if (context instanceof JobInvokeContext attempt) {
                  deliveries.add(attempt.getDelivery());
                }
                return false;
              });
      return registry;
    }

    @DelayedTask("order.close")
    void close(String order) {
      ran.add(order);
    }
  }

  /** As before the client starter was added. */
  private ConfigurableApplicationContext pluginOnly() {
    return shop(
        "spring.autoconfigure.exclude=io.punctual.spring.client.PunctualClientAutoConfiguration");
  }

  private ConfigurableApplicationContext shop(String... properties) {
    return new SpringApplicationBuilder(Shop.class)
        .properties(properties)
        .properties(
            "spring.application.name=shop",
            "server.port=0",
            "eureka.client.enabled=false",
            "punctual.test.enabled=false",
            "punctual.url=" + NO_SCHEDULER,
            "punctual.submit-timeout=1s",
            "punctual.callback.accept-unsigned=true",
            "punctual.key-prefix=" + prefix,
            "spring.data.redis.host=" + REDIS.host(),
            "spring.data.redis.port=" + REDIS.port())
        .run();
  }

  private static DelayQueueJob job(String order, Duration delay) {
    return DelayQueueJob.of("order.close").taskId(order).params(order).delay(delay).build();
  }

  @Test
  void jobsOfPluginModeStillRunAndNewOnesGoToTheSchedulers() {
    try (var before = pluginOnly()) {
      before.getBean(TaskSubmitService.class).send(job("old", Duration.ofSeconds(2)));
      assertThat(before.getBeansOfType(JobRunner.class)).isEmpty();
    }

    try (var both = shop()) {
      assertThat(both.getBeansOfType(JobRunner.class)).hasSize(1);
      assertThat(both.getBeansOfType(Engine.class)).hasSize(1);
      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(() -> assertThat(both.getBean(Shop.class).ran).containsExactly("old"));
      TaskSubmitService tasks = both.getBean(TaskSubmitService.class);
      assertThatThrownBy(() -> tasks.send(job("new", Duration.ZERO)))
          .isInstanceOf(SchedulerUnavailableException.class)
          .hasMessageContaining(NO_SCHEDULER);
    }
  }

  @Test
  void newJobsGoToPluginModeWhereThePropertySaysSo() {
    try (var both = shop("punctual.plugin.submit=true")) {
      both.getBean(TaskSubmitService.class).sendAll(List.of(job("new", Duration.ZERO)));

      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () -> {
                assertThat(both.getBean(Shop.class).ran).containsExactly("new");
                assertThat(both.getBean(Shop.class).deliveries).containsExactly("in-process");
              });
    }
  }
}
