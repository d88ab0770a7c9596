package io.punctual.spring.client;

import static com.github.tomakehurst.wiremock.client.WireMock.get;
import static com.github.tomakehurst.wiremock.client.WireMock.okJson;
import static com.github.tomakehurst.wiremock.client.WireMock.urlPathEqualTo;
import static com.github.tomakehurst.wiremock.core.WireMockConfiguration.options;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.tomakehurst.wiremock.WireMockServer;
import io.punctual.DelayedTask;
import io.punctual.TaskSubmitService;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;

/** What a developer reads at the start where no scheduler can call the application. */
@ExtendWith(OutputCaptureExtension.class)
class StartupLinesIT {

  @Test
  void workersWithoutAWebServerAreToldToPull(CapturedOutput output) {
    start(WebApplicationType.NONE, Shop.class);

    assertThat(output)
        .contains("jobs of [order.close] DO NOT RUN in this instance of shop")
        .contains("this application has no web server. Set punctual.delivery=pull")
        .contains("schedulers [http://127.0.0.1:1]");
  }

  @Test
  void whoOnlySubmitsIsToldNothingAlarming(CapturedOutput output) {
    start(WebApplicationType.NONE, Batch.class);

    assertThat(output)
        .contains("shop runs no task types")
        .doesNotContain("DO NOT RUN", "punctual.delivery=pull", "LoadBalancer");
  }

  @Test
  void workersWithoutARegistryAreToldWhatToWriteIntoOne(CapturedOutput output) {
    start(WebApplicationType.SERVLET, Shop.class, "--punctual.registration=registry");

    assertThat(output)
        .contains("no registry's client registers this instance")
        .contains("schedulers DO NOT CALL it unless it is in their registry by other means")
        .contains("with punctual-callback=/ctx/punctual/callback in its metadata")
        .contains("Or set punctual.registration=scheduler");
  }

  @Test
  void anInstanceThatRegistersAtTheSchedulersSaysSo(CapturedOutput output) {
    start(WebApplicationType.SERVLET, Shop.class);

    assertThat(output)
        .contains("registry none (registers at the schedulers); schedulers")
        .doesNotContain("DO NOT CALL");
  }

  @Test
  void aSendAtTheStartWithoutASchedulerEndsInSpringBootsFrame(CapturedOutput output) {
    assertThatThrownBy(() -> start(WebApplicationType.NONE, FirstOrder.class))
        .hasStackTraceContaining("Nothing was sent");

    assertThat(output)
        .contains(
            """
            ***************************
            APPLICATION FAILED TO START
            ***************************

            Description:

            The application calls a Punctual scheduler at its start, and no scheduler accepts connections: \
            http://127.0.0.1:1 (connection refused). Nothing was sent.

            Action:

            Start the scheduler, or correct punctual.url.

            In development, ./quickstart in Punctual's repository starts a registry and a scheduler.""");
    String all = output.getAll();
    assertThat(all.substring(all.indexOf("APPLICATION FAILED TO START"))).doesNotContain("\tat ");
  }

  /** Eureka's client publishes no event of its first fetch. */
  @Test
  void aRegistryThatShowsNoSchedulerHasAnswered(CapturedOutput output) {
    WireMockServer registry = new WireMockServer(options().dynamicPort());
    registry.start();
    try {
      registry.stubFor(
          get(urlPathEqualTo("/eureka/apps/"))
              .willReturn(
                  okJson(
                      """
                      {"applications": {
                        "versions__delta": "1", "apps__hashcode": "", "application": []
                      }}""")));

      assertThatThrownBy(() -> startWithRegistry(registry.url("/eureka/")))
          .hasStackTraceContaining("Nothing was sent");

      assertThat(output)
          .contains(
              "no scheduler is known: The registry "
                  + registry.url("/eureka/")
                  + " shows no instance of punctual-scheduler.")
          .contains("Start a scheduler; if one has run for a minute, correct");
    } finally {
      registry.stop();
    }
  }

  @Test
  void aRegistryThatIsAwayHasNotAnswered(CapturedOutput output) {
    assertThatThrownBy(() -> startWithRegistry("http://127.0.0.1:1/eureka/"))
        .hasStackTraceContaining("Nothing was sent");

    assertThat(output)
        .contains(
            "The registry http://127.0.0.1:1/eureka/ has not answered yet (connection refused)");
  }

  @Test
  void aRegistryThatHangsDelaysAFastStartBySeconds(CapturedOutput output) throws IOException {
    // Connections are accepted, and nothing is answered.
    try (ServerSocket hung = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      String url = "http://127.0.0.1:" + hung.getLocalPort() + "/eureka/";
      long began = System.nanoTime();
      assertThatThrownBy(() -> startWithRegistry(url, "--punctual.eureka.fast=true"))
          .hasStackTraceContaining("Nothing was sent");

      assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(30));
    }
    assertThat(output)
        .contains(" has not answered yet (it accepts connections and answers nothing within 1 s).")
        .contains("Start it, or restart it if it hangs.");
  }

  @Test
  void anInvalidCallbackUrlStopsTheStartWithoutItsPassword(CapturedOutput output) {
    assertThatThrownBy(
            () ->
                start(
                    WebApplicationType.SERVLET,
                    Shop.class,
                    "--punctual.registration=scheduler",
                    "--punctual.callback.url=http://user:secret@10.0.0.7:8081/"))
        .hasStackTraceContaining("punctual.callback.url");

    assertThat(output)
        .contains("APPLICATION FAILED TO START")
        .contains(
            "punctual.callback.url must be http or https with a host and an optional port, such as"
                + " http://10.0.0.7:8080, but was 'http://***@10.0.0.7:8081/': it has a user.")
        .contains("Remove user, path, query and fragment.")
        .doesNotContain("secret");
  }

  private static void startWithRegistry(String url, String... options) {
    String[] common = {
      "--spring.application.name=shop",
      "--punctual.submit-timeout=1s",
      "--eureka.client.register-with-eureka=false",
      "--eureka.client.service-url.defaultZone=" + url
    };
    new SpringApplicationBuilder(FirstOrder.class)
        .web(WebApplicationType.NONE)
        .run(Stream.concat(Arrays.stream(common), Arrays.stream(options)).toArray(String[]::new))
        .close();
  }

  private static void start(WebApplicationType type, Class<?> application, String... options) {
    String[] common = {
      "--spring.application.name=shop",
      "--server.port=0",
      "--server.servlet.context-path=/ctx",
      "--punctual.url=http://127.0.0.1:1",
      "--punctual.submit-timeout=1s",
      "--eureka.client.enabled=false"
    };
    new SpringApplicationBuilder(application)
        .web(type)
        .run(Stream.concat(Arrays.stream(common), Arrays.stream(options)).toArray(String[]::new))
        .close();
  }

  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class Shop {
    @DelayedTask("order.close")
    void close(String id) {}
  }

  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class Batch {}

  /** As the program of docs/first-job.md. */
  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class FirstOrder {
    @Bean
    ApplicationRunner firstOrder(TaskSubmitService tasks) {
      return args -> tasks.send("order.close", "1001", Duration.ofSeconds(2));
    }
  }
}
