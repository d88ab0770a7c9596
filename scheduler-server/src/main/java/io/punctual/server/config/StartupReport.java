package io.punctual.server.config;

import io.punctual.wire.RegistryAddresses;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.stereotype.Component;

/** One line that says what this scheduler stands on. */
@Component
class StartupReport {

  private static final Logger log = LoggerFactory.getLogger(StartupReport.class);

  private final RedisConnectionFactory connections;
  private final Environment environment;

  StartupReport(RedisConnectionFactory connections, Environment environment) {
    this.connections = connections;
    this.environment = environment;
  }

  @EventListener(ApplicationReadyEvent.class)
  void report() {
    log.info(
        "Punctual scheduler is up on port {}: redis {}, registry {}",
        environment.getProperty("local.server.port"),
        redis(),
        RegistryAddresses.of(
            environment.getProperty("eureka.client.service-url.defaultZone", "none")));
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
