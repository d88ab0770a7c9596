package io.punctual.test.redis;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

/** Starts Redis in a container if a Docker engine answers and has the image. */
final class RedisContainer {

  static final String IMAGE = "redis:8.2-alpine";

  private static final long PATIENCE_S = 10;

  private RedisContainer() {}

  static Optional<SharedRedis> start() {
    // Asked first, since looking for an engine that is not there costs Testcontainers seconds.
    if (System.getenv("DOCKER_HOST") == null && !Files.exists(Path.of("/var/run/docker.sock"))) {
      return Optional.empty();
    }
    // Testcontainers would try for minutes to pull an image, in each JVM that runs tests.
    if (!hasImage()) {
      return Optional.empty();
    }
    GenericContainer<?> container;
    try {
      container = new GenericContainer<>(DockerImageName.parse(IMAGE));
      container.withExposedPorts(6379);
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

  private static boolean hasImage() {
    try {
      Process docker =
          new ProcessBuilder("docker", "image", "inspect", IMAGE)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      try {
        return docker.waitFor(PATIENCE_S, TimeUnit.SECONDS) && docker.exitValue() == 0;
      } finally {
        docker.destroyForcibly();
      }
    } catch (IOException e) {
      // The command is not installed.
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
