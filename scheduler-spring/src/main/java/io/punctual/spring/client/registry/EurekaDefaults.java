package io.punctual.spring.client.registry;

import java.util.List;
import java.util.Map;
import org.springframework.boot.EnvironmentPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.core.Ordered;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;

/**
 * Settings of the Eureka client that make an instance seen, and missed, in seconds instead of
 * minutes, and found by https where it speaks that. Of the lowest precedence: whatever an
 * application sets itself wins. Without the starter ({@code punctual.enabled=false}) nothing is
 * set.
 */
public final class EurekaDefaults implements EnvironmentPostProcessor, Ordered {

  private static final List<String> CERTIFICATES =
      List.of("server.ssl.bundle", "server.ssl.key-store", "server.ssl.certificate");

  @Override
  public void postProcessEnvironment(
      ConfigurableEnvironment environment, SpringApplication application) {
    if (!environment.getProperty("punctual.enabled", Boolean.class, true)) {
      return;
    }
    if (isServedByHttps(environment)) {
      environment
          .getPropertySources()
          .addLast(
              new MapPropertySource(
                  "punctualEurekaHttps",
                  Map.of(
                      "eureka.instance.secure-port-enabled", "true",
                      "eureka.instance.non-secure-port-enabled", "false")));
    }
    environment
        .getPropertySources()
        .addLast(
            new MapPropertySource(
                "punctualEurekaDefaults",
                Map.of(
                    // At INFO it logs the registry's address, with a password that is part of it.
                    "logging.level.com.netflix.discovery.shared.transport", "warn",
                    "eureka.instance.lease-renewal-interval-in-seconds", "5",
                    "eureka.instance.lease-expiration-duration-in-seconds", "15",
                    "eureka.client.registry-fetch-interval-seconds", "5",
                    "eureka.client.initial-instance-info-replication-interval-seconds", "1",
                    "eureka.client.restclient.timeout.connect-timeout", "1000",
                    "eureka.client.restclient.timeout.connect-request-timeout", "1000",
                    "eureka.client.restclient.timeout.socket-timeout", "3000")));
  }

  // Eureka's client does not find out; the registry would say http.
  private static boolean isServedByHttps(ConfigurableEnvironment environment) {
    return environment.getProperty("server.ssl.enabled", Boolean.class, true)
        && CERTIFICATES.stream().anyMatch(environment::containsProperty);
  }

  @Override
  public int getOrder() {
    return Ordered.LOWEST_PRECEDENCE;
  }
}
