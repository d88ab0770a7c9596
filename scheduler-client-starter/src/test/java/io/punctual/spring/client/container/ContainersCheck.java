package io.punctual.spring.client.container;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.dockerjava.api.command.InspectContainerResponse;
import io.punctual.DelayedTask;
import io.punctual.TaskSubmitService;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.containers.wait.strategy.Wait;

/**
 * A scheduler in a real container, found as Spring Boot finds one. Run by
 * deploy/scripts/containers-check.sh, as it wants a Docker engine and the scheduler's image.
 */
class ContainersCheck {

  private static final String SIGNING_KEY = "0123456789abcdef0123456789abcdef0123456789abcdef";
  private static final String[] CREDENTIALS = {
    "java", "-jar", "/app/app.jar", "credentials", "shop"
  };

  @Test
  void aTestsContainerTakesJobsAndTheyRun() throws InterruptedException {
    runsAJob(ContainersOfTests.class);
  }

  @Test
  void aComposeFilesSchedulerTakesJobsAndTheyRun(@TempDir Path directory)
      throws IOException, InterruptedException {
    Path file = directory.resolve("compose.yml");
    Files.writeString(
        file,
        """
        name: punctual-containers-check
        volumes:
          redis-data:
        services:
          redis:
            image: redis:8.2-alpine
            volumes: ["redis-data:/data"]
          scheduler:
            image: punctual/scheduler-server
            depends_on: [redis]
            ports: ["127.0.0.1::8080"]
            environment:
              SPRING_DATA_REDIS_HOST: redis
              EUREKA_CLIENT_ENABLED: "false"
              PUNCTUAL_SECURITY_SIGNINGKEYS: %s
            healthcheck:
              test: ["CMD", "curl", "-sf", "http://localhost:8080/actuator/health/readiness"]
              interval: 2s
              retries: 60
        """
            .formatted(SIGNING_KEY));
    try {
      compose(file, "up", "--detach", "--wait");
      List<String> exec = new ArrayList<>(List.of("exec", "-T", "scheduler"));
      exec.addAll(List.of(CREDENTIALS));
      String token = token(compose(file, exec.toArray(String[]::new)));
      // The volume keeps it.
      compose(file, "down", "--timeout", "10");
      compose(file, "up", "--detach", "--wait");

      // Found as it runs, and left as it is.
      runsAJob(
          Shop.class,
          "--spring.docker.compose.file=" + file,
          "--spring.docker.compose.skip.in-tests=false",
          "--punctual.token=" + token);
    } finally {
      compose(file, "down", "--volumes", "--timeout", "1");
    }
  }

  private static void runsAJob(Class<?> application, String... arguments)
      throws InterruptedException {
    String[] all =
        Stream.concat(
                Stream.of(
                    "--spring.application.name=shop",
                    "--punctual.delivery=pull",
                    "--eureka.client.enabled=false",
                    "--spring.docker.compose.lifecycle-management=none"),
                Stream.of(arguments))
            .toArray(String[]::new);
    try (ConfigurableApplicationContext context =
        new SpringApplicationBuilder(application).web(WebApplicationType.NONE).run(all)) {
      context.getBean(TaskSubmitService.class).send("order.close", "1001", Duration.ofMillis(200));

      assertThat(Shop.CLOSED.poll(60, TimeUnit.SECONDS)).isEqualTo("1001");
    }
  }

  private static String token(String credentials) {
    return credentials
        .lines()
        .filter(line -> line.startsWith("punctual.token="))
        .map(line -> line.substring(line.indexOf('=') + 1))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no token in: " + credentials));
  }

  private static String compose(Path file, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("docker", "compose", "--file", file.toString()));
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new AssertionError(command + " failed: " + said);
    }
    return said;
  }

  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class Shop {
    static final BlockingQueue<String> CLOSED = new LinkedBlockingQueue<>();

    @DelayedTask("order.close")
    void close(String id) {
      CLOSED.add(id);
    }
  }

  // As docs/containers.md shows it.
  static class ContainersOfTests extends Shop {

    @Bean(destroyMethod = "close")
    Network network() {
      return Network.newNetwork();
    }

    @Bean
    GenericContainer<?> redis(Network network) {
      return new GenericContainer<>("redis:8.2-alpine")
          .withNetwork(network)
          .withNetworkAliases("redis");
    }

    @Bean
    @ServiceConnection("punctual/scheduler-server")
    SchedulerWithToken scheduler(Network network, GenericContainer<?> redis) {
      return new SchedulerWithToken().withNetwork(network).dependsOn(redis);
    }
  }

  static class SchedulerWithToken extends GenericContainer<SchedulerWithToken> {

    SchedulerWithToken() {
      super("punctual/scheduler-server");
      withExposedPorts(8080);
      withEnv("SPRING_DATA_REDIS_HOST", "redis");
      withEnv("EUREKA_CLIENT_ENABLED", "false");
      withEnv("PUNCTUAL_SECURITY_SIGNINGKEYS", SIGNING_KEY);
      waitingFor(Wait.forHttp("/actuator/health/readiness"));
    }

    @Override
    protected void containerIsStarted(InspectContainerResponse container) {
      try {
        String said =
            execInContainer("java", "-jar", "/app/app.jar", "credentials", "shop").getStdout();
        String line =
            said.lines().filter(it -> it.startsWith("punctual.token=")).findFirst().orElseThrow();
        withEnv("PUNCTUAL_TOKEN", line.substring("punctual.token=".length()));
      } catch (IOException | InterruptedException e) {
        throw new IllegalStateException("no token could be made", e);
      }
    }
  }
}
