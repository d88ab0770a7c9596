package io.punctual.spring.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.DelayedTask;
import io.punctual.TaskSubmitService;
import java.time.Duration;
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
    start(WebApplicationType.SERVLET, Shop.class);

    assertThat(output)
        .contains("schedulers DO NOT CALL it")
        .contains("punctual.task-types=order.close, punctual.callback-path=/ctx/punctual/callback");
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

  private static void start(WebApplicationType type, Class<?> application) {
    new SpringApplicationBuilder(application)
        .web(type)
        .run(
            "--spring.application.name=shop",
            "--server.port=0",
            "--server.servlet.context-path=/ctx",
            "--punctual.url=http://127.0.0.1:1",
            "--punctual.submit-timeout=1s",
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

  /** As the README's first program. */
  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class FirstOrder {
    @Bean
    ApplicationRunner firstOrder(TaskSubmitService tasks) {
      return args -> tasks.send("order.close", "1001", Duration.ofSeconds(2));
    }
  }
}
