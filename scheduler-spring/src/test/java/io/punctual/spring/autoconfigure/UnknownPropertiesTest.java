package io.punctual.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** What a developer reads who misspelt a property. */
@ExtendWith(OutputCaptureExtension.class)
class UnknownPropertiesTest {

  private static final String METADATA =
      """
      {"properties": [
        {"name": "punctual.callback.accept-unsigned", "type": "java.lang.Boolean"},
        {"name": "punctual.delivery", "type": "x.Delivery"},
        {"name": "punctual.workers", "type": "java.util.Map<java.lang.String,x.Worker>"},
        {"name": "spring.application.name", "type": "java.lang.String"}
      ]}
      """;

  @TempDir private Path jar;

  private void warn(Map<String, Object> properties, Map<String, Object> variables)
      throws Exception {
    Files.createDirectories(jar.resolve("META-INF"));
    Files.writeString(jar.resolve("META-INF/spring-configuration-metadata.json"), METADATA);
    StandardEnvironment environment = new StandardEnvironment();
    environment.getPropertySources().addFirst(new MapPropertySource("test", properties));
    environment
        .getPropertySources()
        .addFirst(new SystemEnvironmentPropertySource("variables", variables));
    try (URLClassLoader classes =
        new URLClassLoader(new URL[] {jar.toUri().toURL()}, /* parent= */ null)) {
      UnknownProperties.warn(environment, classes);
    }
  }

  @Test
  void misspeltNamesAreOneWarningWithTheNamesThatWereMeant(CapturedOutput output) throws Exception {
    warn(
        Map.of(
            "punctual.callback.accept-unsinged",
            "true",
            "punctual.client.delivery",
            "pull",
            "punctual.something-else",
            "1"),
        Map.of("PUNCTUAL_DELIVERRY", "pull"));

    assertThat(output.getAll().lines().filter(line -> line.contains(" WARN ")))
        .singleElement()
        .asString()
        .contains(
            "punctual.callback.accept-unsinged (did you mean"
                + " punctual.callback.accept-unsigned?)",
            "punctual.client.delivery (did you mean punctual.delivery?)",
            "punctual.something-else",
            "PUNCTUAL_DELIVERRY (did you mean punctual.delivery?)");
  }

  @Test
  void everyWayToWriteAKnownNameIsSilentAndSoAreOthers(CapturedOutput output) throws Exception {
    warn(
        Map.of(
            "punctual.callback.acceptUnsigned",
            "true",
            "punctual.workers[order.close].concurrency",
            "4",
            "spring.application.nam",
            "x"),
        Map.of(
            "PUNCTUAL_CALLBACK_ACCEPTUNSIGNED",
            "true",
            "PUNCTUAL_WORKERS_X_RETRY",
            "1s",
            // As Kubernetes names the service "punctual-scheduler".
            "PUNCTUAL_SCHEDULER_SERVICE_HOST",
            "10.0.0.1"));

    assertThat(output).doesNotContain("WARN");
  }

  @Configuration
  static class Application {}

  @Test
  void itIsSaidAtTheStart(CapturedOutput output) {
    try (var application =
        new SpringApplicationBuilder(Application.class)
            .web(WebApplicationType.NONE)
            .properties("punctual.outbox.enabeld=true")
            .run()) {
      assertThat(application.isActive()).isTrue();
    }

    assertThat(output).contains("punctual.outbox.enabeld (did you mean punctual.outbox.enabled?)");
  }
}
