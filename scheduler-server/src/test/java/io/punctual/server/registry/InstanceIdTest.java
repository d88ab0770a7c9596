package io.punctual.server.registry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

class InstanceIdTest {

  @SpringBootConfiguration
  static class Nothing {}

  @Test
  void schedulersOfTwoMachinesAreTwoInstances() {
    assertThat(id("--spring.cloud.client.hostname=one"))
        .isEqualTo("punctual-scheduler:one:8080")
        .isNotEqualTo(id("--spring.cloud.client.hostname=two"));
  }

  @Test
  void theNameThatIsSetWins() {
    assertThat(id("--spring.cloud.client.hostname=one", "--eureka.instance.hostname=own"))
        .isEqualTo("punctual-scheduler:own:8080");
  }

  private static String id(String... settings) {
    // The profile quickstart, which other tests have, registers 127.0.0.1.
    List<String> arguments = new ArrayList<>(List.of(settings));
    arguments.add("--spring.profiles.active=closed");
    try (ConfigurableApplicationContext context =
        new SpringApplicationBuilder(Nothing.class)
            .web(WebApplicationType.NONE)
            .run(arguments.toArray(String[]::new))) {
      return context.getEnvironment().getRequiredProperty("eureka.instance.instance-id");
    }
  }
}
