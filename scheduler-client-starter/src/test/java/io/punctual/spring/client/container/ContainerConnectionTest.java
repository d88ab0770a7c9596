package io.punctual.spring.client.container;

import static com.github.tomakehurst.wiremock.client.WireMock.aResponse;
import static com.github.tomakehurst.wiremock.client.WireMock.equalTo;
import static com.github.tomakehurst.wiremock.client.WireMock.post;
import static com.github.tomakehurst.wiremock.client.WireMock.postRequestedFor;
import static com.github.tomakehurst.wiremock.client.WireMock.urlEqualTo;
import static org.assertj.core.api.Assertions.assertThat;

import com.github.tomakehurst.wiremock.WireMockServer;
import com.github.tomakehurst.wiremock.core.WireMockConfiguration;
import io.punctual.TaskSubmitService;
import io.punctual.spring.client.PunctualClientAutoConfiguration;
import io.punctual.spring.client.PunctualConnectionDetails;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.beans.BeanUtils;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetailsFactories;
import org.springframework.boot.docker.compose.core.ConnectionPorts;
import org.springframework.boot.docker.compose.core.ImageReference;
import org.springframework.boot.docker.compose.core.RunningService;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.boot.testcontainers.service.connection.ServiceConnectionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.mock.env.MockEnvironment;
import org.testcontainers.containers.GenericContainer;

/**
 * From a container to the address that is called, by Spring Boot's own ways. No engine runs here:
 * the containers are played, and a server in this process is where they say that they listen.
 */
class ContainerConnectionTest {

  private static final WireMockServer SCHEDULER =
      new WireMockServer(WireMockConfiguration.options().dynamicPort());

  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  ServiceConnectionAutoConfiguration.class, PunctualClientAutoConfiguration.class))
          .withPropertyValues(
              "spring.application.name=shop",
              // Nothing listens there.
              "punctual.url=http://127.0.0.1:1",
              "punctual.token=pct_of-the-property",
              "punctual.submit-timeout=20s");

  @BeforeAll
  static void start() {
    SCHEDULER.start();
    SCHEDULER.stubFor(
        post(urlEqualTo("/api/v1/jobs"))
            .willReturn(
                aResponse()
                    .withStatus(201)
                    .withBody("{\"taskId\":\"1\",\"delayTime\":1,\"outcome\":\"created\"}")));
  }

  @AfterAll
  static void stop() {
    SCHEDULER.stop();
  }

  @Test
  void aContainerWithServiceConnectionTakesThePlaceOfTheProperties() {
    application
        .withUserConfiguration(WithToken.class)
        .run(context -> sendsWith("Bearer pct_of-the-container", context.getBean(TASKS)));
  }

  @Test
  void aContainerWithoutATokenLeavesThatToTheProperty() {
    application
        .withUserConfiguration(WithoutToken.class)
        .run(context -> sendsWith("Bearer pct_of-the-property", context.getBean(TASKS)));
  }

  private static final Class<TaskSubmitService> TASKS = TaskSubmitService.class;

  @Test
  void theApplicationsOwnDetailsTakeThePlaceOfTheProperties() {
    PunctualConnectionDetails own = () -> List.of(URI.create(SCHEDULER.baseUrl() + "/"));
    application
        .withBean(PunctualConnectionDetails.class, () -> own)
        .run(context -> sendsWith("Bearer pct_of-the-property", context.getBean(TASKS)));
  }

  private static void sendsWith(String authorization, TaskSubmitService tasks) {
    SCHEDULER.resetRequests();
    tasks.send("order.close", "1001", Duration.ZERO);
    SCHEDULER.verify(
        1,
        postRequestedFor(urlEqualTo("/api/v1/jobs"))
            .withHeader("Authorization", equalTo(authorization)));
  }

  @Test
  void aServiceOfAComposeFileIsKnownByItsImageOrByItsLabel() {
    String label = "org.springframework.boot.service-connection";
    Map<String, String> token = Map.of("PUNCTUAL_TOKEN", "pct_of-the-service");

    PunctualConnectionDetails byImage =
        Objects.requireNonNull(
            details(new Service("example.org/punctual/scheduler-server:1.2", token, Map.of())));
    assertThat(byImage.getUrls()).containsExactly(URI.create("http://docker.example:49153"));
    assertThat(byImage.getToken()).isEqualTo("pct_of-the-service");

    PunctualConnectionDetails byLabel =
        Objects.requireNonNull(
            details(
                new Service(
                    "shop/scheduler", Map.of(), Map.of(label, "punctual/scheduler-server"))));
    assertThat(byLabel.getUrls()).containsExactly(URI.create("http://docker.example:49153"));
    assertThat(byLabel.getToken()).isNull();

    assertThat(details(new Service("shop/other:7", Map.of(), Map.of()))).isNull();
  }

  @Test
  void anAddressOfSixteenBytesStandsInBrackets() {
    assertThat(SchedulerContainer.urls("::1", 8080))
        .containsExactly(URI.create("http://[::1]:8080"));
  }

  private static @Nullable PunctualConnectionDetails details(RunningService service) {
    Map<Class<?>, ConnectionDetails> found =
        new ConnectionDetailsFactories(null).getConnectionDetails(source(service), false);
    return (PunctualConnectionDetails) found.get(PunctualConnectionDetails.class);
  }

  // Spring Boot alone makes these.
  private static DockerComposeConnectionSource source(RunningService service) {
    try {
      return BeanUtils.instantiateClass(
          DockerComposeConnectionSource.class.getDeclaredConstructor(
              RunningService.class, Environment.class),
          service,
          new MockEnvironment());
    } catch (NoSuchMethodException e) {
      throw new IllegalStateException(e);
    }
  }

  private record Service(
      String imageName, Map<String, String> variables, Map<String, String> labels)
      implements RunningService {

    @Override
    public String name() {
      return "scheduler";
    }

    @Override
    public ImageReference image() {
      return ImageReference.of(imageName);
    }

    @Override
    public String host() {
      return "docker.example";
    }

    @Override
    public ConnectionPorts ports() {
      return new ConnectionPorts() {
        @Override
        public int get(int containerPort) {
          assertThat(containerPort).isEqualTo(8080);
          return 49153;
        }

        @Override
        public List<Integer> getAll() {
          return List.of(49153);
        }

        @Override
        public List<Integer> getAll(@Nullable String protocol) {
          return getAll();
        }
      };
    }

    @Override
    public Map<String, @Nullable String> env() {
      return Map.copyOf(variables);
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class WithToken {
    @Bean
    @ServiceConnection("punctual/scheduler-server")
    GenericContainer<?> scheduler() {
      return new Played().withEnv("PUNCTUAL_TOKEN", "pct_of-the-container");
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class WithoutToken {
    @Bean
    @ServiceConnection("punctual/scheduler-server")
    GenericContainer<?> scheduler() {
      return new Played();
    }
  }

  private static final class Played extends GenericContainer<Played> {

    Played() {
      super("punctual/scheduler-server");
    }

    @Override
    public void start() {}

    @Override
    public void stop() {}

    @Override
    public String getHost() {
      return "127.0.0.1";
    }

    @Override
    public Integer getMappedPort(int originalPort) {
      assertThat(originalPort).isEqualTo(8080);
      return SCHEDULER.port();
    }
  }
}
