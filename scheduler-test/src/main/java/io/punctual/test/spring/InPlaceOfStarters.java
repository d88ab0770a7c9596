package io.punctual.test.spring;

import java.util.Map;
import org.springframework.boot.EnvironmentPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.core.Ordered;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;

/**
 * Switches the starters off, so that nothing of them looks for a scheduler, a registry or a Redis.
 * The Eureka client is switched off as well, unless the application or the test says something else
 * itself.
 */
final class InPlaceOfStarters implements EnvironmentPostProcessor, Ordered {

  @Override
  public void postProcessEnvironment(
      ConfigurableEnvironment environment, SpringApplication application) {
    if (!environment.getProperty("punctual.test.enabled", Boolean.class, true)) {
      return;
    }
    environment
        .getPropertySources()
        .addFirst(new MapPropertySource("punctualTest", Map.of("punctual.enabled", "false")));
    environment
        .getPropertySources()
        .addLast(
            new MapPropertySource(
                "punctualTestDefaults", Map.of("eureka.client.enabled", "false")));
  }

  // Behind those who read configuration files: they may switch this off.
  @Override
  public int getOrder() {
    return Ordered.LOWEST_PRECEDENCE;
  }
}
