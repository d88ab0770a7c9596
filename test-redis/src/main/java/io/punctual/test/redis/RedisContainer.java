package io.punctual.test.redis;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

/** Redis in a container, where a Docker engine answers. */
final class RedisContainer {

  static final String IMAGE = "redis:8.2-alpine";

  private RedisContainer() {}

  static Optional<SharedRedis> start() {
    // Asked first, since looking for an engine that is not there costs Testcontainers seconds.
    if (System.getenv("DOCKER_HOST") == null && !Files.exists(Path.of("/var/run/docker.sock"))) {
      return Optional.empty();
    }
    if (!DockerClientFactory.instance().isDockerAvailable()) {
      return Optional.empty();
    }
    GenericContainer<?> container = new GenericContainer<>(DockerImageName.parse(IMAGE));
    container.withExposedPorts(6379);
    try {
      container.start();
    } catch (RuntimeException e) {
      System.out.println(
          "A Docker engine answers, but " + IMAGE + " did not start; taking a process: " + e);
      return Optional.empty();
    }
    // The container is ended here, so that no further container is needed to clean up.
    Runtime.getRuntime().addShutdownHook(new Thread(container::stop, "redis-container-at-exit"));
    return Optional.of(
        new SharedRedis(
            container.getHost(), container.getMappedPort(6379), "Testcontainers, " + IMAGE));
  }
}
