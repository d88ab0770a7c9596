package io.punctual.server;

import io.punctual.server.dispatch.DispatchProperties;
import io.punctual.server.registry.InstanceSource;
import io.punctual.server.registry.Registries;
import io.punctual.server.registry.RegistrySource;
import io.punctual.wire.RegistryAddresses;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;
import org.springframework.core.env.Profiles;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.stereotype.Component;
import org.springframework.util.StringUtils;

/** Says at the start which Redis and registry this scheduler uses, and what it may call. */
@Component
class StartupReport {

  private static final Logger log = LoggerFactory.getLogger(StartupReport.class);

  private final RedisConnectionFactory connections;
  private final Environment environment;
  private final DispatchProperties properties;
  private final Registries registries;

  StartupReport(
      RedisConnectionFactory connections,
      Environment environment,
      DispatchProperties properties,
      Registries registries) {
    this.connections = connections;
    this.environment = environment;
    this.properties = properties;
    this.registries = registries;
  }

  @EventListener(ApplicationReadyEvent.class)
  void report() {
    log.info(
        "Punctual scheduler is up on port {}: redis {}, registry {}",
        environment.getProperty("local.server.port"),
        redis(),
        registry());
    if (properties.allowedNetworks().isEmpty()
        && !environment.acceptsProfiles(Profiles.of("quickstart"))) {
      log.warn(
          "punctual.dispatch.allowed-networks is empty: each client of the registry can make this"
              + " scheduler call almost any address of your networks. Set it to the networks of the"
              + " workers, such as 10.0.0.0/8");
    }
  }

  private String registry() {
    String used =
        registries.sources().reversed().stream()
            .map(InstanceSource::name)
            .filter(name -> !name.equals(RegistrySource.OF_PROPERTIES))
            .map(this::shown)
            .collect(Collectors.joining(" and "));
    return used.isEmpty() ? "none (eureka.client.enabled=false)" : used;
  }

  private String shown(String registry) {
    return switch (registry) {
      case "eureka" -> {
        String addresses = "eureka.client.service-url.defaultZone";
        yield RegistryAddresses.of(environment.getProperty(addresses, "none")).toString();
      }
      case "zookeeper" ->
          "ZooKeeper " + environment.getProperty("spring.cloud.zookeeper.connect-string");
      case "consul" ->
          "Consul %s:%s"
              .formatted(
                  environment.getProperty("spring.cloud.consul.host"),
                  environment.getProperty("spring.cloud.consul.port"));
      case "nacos" ->
          "Nacos " + environment.getProperty("spring.cloud.nacos.discovery.server-addr");
      default -> StringUtils.capitalize(registry);
    };
  }

  private String redis() {
    try (RedisConnection connection = connections.getConnection()) {
      var info = connection.serverCommands().info("server");
      return info == null ? "answers" : String.valueOf(info.getProperty("redis_version"));
    } catch (RuntimeException e) {
      return "DOES NOT ANSWER (submits get 503 until it does): " + e.getMessage();
    }
  }
}
