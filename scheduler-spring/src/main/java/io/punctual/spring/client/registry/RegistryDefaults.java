package io.punctual.spring.client.registry;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.springframework.boot.EnvironmentPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.core.Ordered;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;

/**
 * Sets defaults of registries' clients: an instance with a certificate is registered with https, an
 * application starts while Nacos is away, and no password is logged. With {@code
 * punctual.eureka.fast}, an instance is seen, and missed, in seconds instead of minutes. The
 * defaults have the lowest precedence: an application's own settings win. Without the starter
 * ({@code punctual.enabled=false}) nothing is set.
 */
public final class RegistryDefaults implements EnvironmentPostProcessor, Ordered {

  private static final List<String> CERTIFICATES =
      List.of("server.ssl.bundle", "server.ssl.key-store", "server.ssl.certificate");

  private static final Map<String, String> FAST =
      Map.of(
          "eureka.instance.lease-renewal-interval-in-seconds", "5",
          "eureka.instance.lease-expiration-duration-in-seconds", "15",
          "eureka.client.registry-fetch-interval-seconds", "5",
          "eureka.client.initial-instance-info-replication-interval-seconds", "1");

  // Spring Boot 4 uses the first name. With 3.5, the client uses the last one, or the second one if
  // the application asks for RestClient.
  private static final List<String> TIMEOUTS =
      List.of(
          "eureka.client.timeout",
          "eureka.client.restclient.timeout",
          "eureka.client.rest-template-timeout");

  @Override
  public void postProcessEnvironment(
      ConfigurableEnvironment environment, SpringApplication application) {
    if (!environment.getProperty("punctual.enabled", Boolean.class, true)) {
      return;
    }
    Map<String, Object> settings = new HashMap<>();
    // At INFO it logs the registry's address, with a password that is part of it.
    settings.put("logging.level.com.netflix.discovery.shared.transport", "warn");
    // Nacos's client repeats a registration by itself, but ends the start if the first one fails.
    settings.put("spring.cloud.nacos.discovery.fail-fast", "false");
    if (isServedByHttps(environment)) {
      settings.put("eureka.instance.secure-port-enabled", "true");
      settings.put("eureka.instance.non-secure-port-enabled", "false");
      settings.put("spring.cloud.consul.discovery.scheme", "https");
      settings.put("spring.cloud.nacos.discovery.secure", "true");
      if (!environment.getProperty("server.port", "8080").equals("0")) {
        settings.put("spring.cloud.zookeeper.discovery.instance-ssl-port", "${server.port:8080}");
      }
    }
    if (environment.getProperty("punctual.eureka.fast", Boolean.class, false)) {
      settings.putAll(FAST);
      for (String timeouts : TIMEOUTS) {
        settings.put(timeouts + ".connect-timeout", "1000");
        settings.put(timeouts + ".connect-request-timeout", "1000");
        settings.put(timeouts + ".socket-timeout", "3000");
      }
    }
    environment
        .getPropertySources()
        .addLast(new MapPropertySource("punctualRegistryDefaults", settings));
  }

  // The registries' clients do not find out; the registry would say http.
  private static boolean isServedByHttps(ConfigurableEnvironment environment) {
    return environment.getProperty("server.ssl.enabled", Boolean.class, true)
        && CERTIFICATES.stream().anyMatch(environment::containsProperty);
  }

  @Override
  public int getOrder() {
    return Ordered.LOWEST_PRECEDENCE;
  }
}
