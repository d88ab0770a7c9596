package io.punctual.server.registry;

import java.util.List;
import java.util.Map;
import org.springframework.boot.EnvironmentPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.core.Ordered;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;

/**
 * Has registries say https where this server speaks it, which their clients do not find out. Of the
 * lowest precedence: whatever is set wins.
 */
public final class RegisteredAsSecure implements EnvironmentPostProcessor, Ordered {

  private static final List<String> CERTIFICATES =
      List.of("server.ssl.bundle", "server.ssl.key-store", "server.ssl.certificate");

  @Override
  public void postProcessEnvironment(
      ConfigurableEnvironment environment, SpringApplication application) {
    if (environment.getProperty("server.ssl.enabled", Boolean.class, true)
        && CERTIFICATES.stream().anyMatch(environment::containsProperty)) {
      environment
          .getPropertySources()
          .addLast(
              new MapPropertySource(
                  "punctualRegisteredAsSecure",
                  Map.of(
                      "eureka.instance.secure-port-enabled", "true",
                      "eureka.instance.non-secure-port-enabled", "false",
                      "spring.cloud.consul.discovery.scheme", "https",
                      "spring.cloud.nacos.discovery.secure", "true",
                      "spring.cloud.zookeeper.discovery.instance-ssl-port",
                          "${server.port:8080}")));
    }
  }

  @Override
  public int getOrder() {
    return Ordered.LOWEST_PRECEDENCE;
  }
}
