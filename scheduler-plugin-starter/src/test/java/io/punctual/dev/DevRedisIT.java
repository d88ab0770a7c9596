package io.punctual.dev;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.DelayQueueJob;
import io.punctual.TaskSubmitService;
import io.punctual.TaskWorker;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.util.FileSystemUtils;

/** An application in plugin mode on a machine where nothing was installed and nothing started. */
@ExtendWith(OutputCaptureExtension.class)
class DevRedisIT {

  private final String application = "shop-" + UUID.randomUUID();
  private final Path directory = Path.of(".punctual", "redis-" + application).toAbsolutePath();

  @AfterEach
  void remove() {
    FileSystemUtils.deleteRecursively(directory.toFile());
  }

  private ConfigurableApplicationContext start(String... more) {
    return new SpringApplicationBuilder(Shop.class)
        .profiles("dev")
        .properties(
            "spring.application.name=" + application, "spring.main.web-application-type=none")
        .run(more);
  }

  @Test
  void jobsAreRunAndWaitThroughARestart() {
    long pid;
    try (var shop = start()) {
      var tasks = shop.getBean(TaskSubmitService.class);
      tasks.send("greet", "now", Duration.ofMillis(100));
      Awaitility.await().until(() -> shop.getBean(Shop.class).greeted.contains("now"));
      tasks.send(
          DelayQueueJob.of("greet")
              .taskId("later")
              .params("later")
              .delay(Duration.ofHours(1))
              .build());
      pid = Long.parseLong(read(shop, "process_id"));
      assertThat(ProcessHandle.of(pid))
          .hasValueSatisfying(redis -> assertThat(redis.isAlive()).isTrue());
    }
    assertThat(ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false)).isFalse();
    try (var shop = start()) {
      var tasks = shop.getBean(TaskSubmitService.class);
      tasks.reschedule("greet", "later", Duration.ZERO);
      Awaitility.await().until(() -> shop.getBean(Shop.class).greeted.contains("later"));
    }
  }

  @Test
  void thatItIsNewIsNoWarning(CapturedOutput output) {
    try (var shop = start()) {
      assertThat(shop.isRunning()).isTrue();
      Awaitility.await().until(() -> output.getAll().contains("Redis is new"));
    }
    assertThat(output.getAll().lines().filter(line -> line.contains("Redis is new")))
        .singleElement()
        .asString()
        .contains(" INFO ");
  }

  @Test
  void aSecondApplicationOnTheSameDirectoryIsToldWhatToDo(CapturedOutput output) {
    try (var first = start()) {
      assertThat(first.isRunning()).isTrue();
      assertThatThrownBy(this::start)
          .rootCause()
          .hasMessageContaining("has its Redis of the profile dev in " + directory)
          .satisfies(
              refused ->
                  assertThat(((DevRedisException) refused).action())
                      .contains("another spring.application.name"));
      assertThat(output).contains("APPLICATION FAILED TO START").contains("spring.data.redis.host");
    }
  }

  @Test
  void itStaysAwayWithoutTheProfileOrPunctualAndWhereARedisIsNamed() {
    ApplicationContextRunner runner =
        new ApplicationContextRunner()
            .withConfiguration(
                AutoConfigurations.of(
                    DevRedisAutoConfiguration.class, DataRedisAutoConfiguration.class))
            .withPropertyValues(
                "spring.profiles.active=dev", "spring.application.name=" + application);

    runner.run(context -> assertThat(context).hasSingleBean(DevRedis.class));
    for (String away :
        List.of(
            "spring.profiles.active=prod",
            "punctual.enabled=false",
            "spring.data.redis.host=127.0.0.1",
            "spring.data.redis.port=6380")) {
      runner
          .withPropertyValues(away)
          .run(
              context ->
                  assertThat(context)
                      .as(away)
                      .doesNotHaveBean(DevRedis.class)
                      .hasSingleBean(DataRedisConnectionDetails.class));
    }
  }

  private static String read(ConfigurableApplicationContext shop, String field) {
    try (var connection =
        shop.getBean(org.springframework.data.redis.connection.RedisConnectionFactory.class)
            .getConnection()) {
      return String.valueOf(connection.serverCommands().info("server").getProperty(field));
    }
  }

  @SpringBootConfiguration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Shop {

    final Queue<String> greeted = new ConcurrentLinkedQueue<>();

    @Bean
    TaskWorker greeter() {
      return new TaskWorker() {
        @Override
        public String type() {
          return "greet";
        }

        @Override
        public void invoke(String name) {
          greeted.add(name);
        }
      };
    }
  }
}
