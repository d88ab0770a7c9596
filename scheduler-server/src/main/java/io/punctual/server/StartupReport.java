package io.punctual.server;

import io.punctual.server.dispatch.DispatchProperties;
import io.punctual.wire.RegistryAddresses;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;
import org.springframework.core.env.Profiles;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.stereotype.Component;

/** Says at the start which Redis and registry this scheduler uses, and what it may call. */
@Component
class StartupReport {

  private static final Logger log = LoggerFactory.getLogger(StartupReport.class);

  private final RedisConnectionFactory connections;
  private final Environment environment;
  private final DispatchProperties properties;

  StartupReport(
      RedisConnectionFactory connections, Environment environment, DispatchProperties properties) {
    this.connections = connections;
    this.environment = environment;
    this.properties = properties;
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
    List<String> used = new ArrayList<>();
    if (environment.getProperty("eureka.client.enabled", Boolean.class, true)) {
      String eureka = environment.getProperty("eureka.client.service-url.defaultZone", "none");
      used.add(RegistryAddresses.of(eureka).toString());
    }
    if (environment.getProperty("spring.cloud.zookeeper.enabled", Boolean.class, false)) {
      used.add("ZooKeeper " + environment.getProperty("spring.cloud.zookeeper.connect-string"));
    }
    if (environment.getProperty("spring.cloud.consul.enabled", Boolean.class, false)) {
      used.add(
          "Consul %s:%s"
              .formatted(
                  environment.getProperty("spring.cloud.consul.host"),
                  environment.getProperty("spring.cloud.consul.port")));
    }
    if (environment.getProperty("spring.cloud.nacos.discovery.enabled", Boolean.class, false)) {
      used.add("Nacos " + environment.getProperty("spring.cloud.nacos.discovery.server-addr"));
    }
    return used.isEmpty() ? "none (eureka.client.enabled=false)" : String.join(" and ", used);
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
