package io.punctual.client.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.DelayedTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** What a developer reads at the start where no scheduler can call the application. */
@ExtendWith(OutputCaptureExtension.class)
class StartupLinesIT {

  @Test
  void workersWithoutAWebServerAreToldToPull(CapturedOutput output) {
    start(WebApplicationType.NONE, Shop.class);

    assertThat(output)
        .contains("jobs of [order.close] DO NOT RUN in this instance of shop")
        .contains("this application has no web server. Set punctual.client.delivery=pull")
        .contains("schedulers [http://127.0.0.1:1]");
  }

  @Test
  void whoOnlySubmitsIsToldNothingAlarming(CapturedOutput output) {
    start(WebApplicationType.NONE, Batch.class);

    assertThat(output)
        .contains("shop runs no task types")
        .doesNotContain("DO NOT RUN", "punctual.client.delivery=pull");
  }

  @Test
  void workersWithoutARegistryAreToldWhatToWriteIntoOne(CapturedOutput output) {
    start(WebApplicationType.SERVLET, Shop.class);

    assertThat(output)
        .contains("schedulers DO NOT CALL it")
        .contains("punctual.task-types=order.close, punctual.callback-path=/ctx/punctual/callback");
  }

  private static void start(WebApplicationType type, Class<?> application) {
    new SpringApplicationBuilder(application)
        .web(type)
        .run(
            "--spring.application.name=shop",
            "--server.port=0",
            "--server.servlet.context-path=/ctx",
            "--punctual.client.url=http://127.0.0.1:1",
            "--eureka.client.enabled=false")
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
}
