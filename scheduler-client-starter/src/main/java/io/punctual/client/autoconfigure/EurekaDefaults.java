package io.punctual.client.autoconfigure;

import java.util.Map;
import org.springframework.boot.EnvironmentPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.core.Ordered;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;

/**
 * Settings of the Eureka client that make an instance seen, and missed, in seconds instead of
 * minutes. Of the lowest precedence: whatever an application sets itself wins.
 */
public final class EurekaDefaults implements EnvironmentPostProcessor, Ordered {

  @Override
  public void postProcessEnvironment(
      ConfigurableEnvironment environment, SpringApplication application) {
    environment
        .getPropertySources()
        .addLast(
            new MapPropertySource(
                "punctualEurekaDefaults",
                Map.of(
                    "eureka.instance.lease-renewal-interval-in-seconds", "5",
                    "eureka.instance.lease-expiration-duration-in-seconds", "15",
                    "eureka.client.registry-fetch-interval-seconds", "5",
                    "eureka.client.initial-instance-info-replication-interval-seconds", "1",
                    "eureka.client.restclient.timeout.connect-timeout", "1000",
                    "eureka.client.restclient.timeout.connect-request-timeout", "1000",
                    "eureka.client.restclient.timeout.socket-timeout", "3000")));
  }

  @Override
  public int getOrder() {
    return Ordered.LOWEST_PRECEDENCE;
  }
}
