package io.punctual.server.registry;

import static org.assertj.core.api.Assertions.assertThat;

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

  private static String id(String... arguments) {
    try (ConfigurableApplicationContext context =
        new SpringApplicationBuilder(Nothing.class).web(WebApplicationType.NONE).run(arguments)) {
      return context.getEnvironment().getRequiredProperty("eureka.instance.instance-id");
    }
  }
}
