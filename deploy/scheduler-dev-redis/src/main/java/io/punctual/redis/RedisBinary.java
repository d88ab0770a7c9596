package io.punctual.redis;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import redis.embedded.core.ExecutableProvider;

/**
 * A redis-server program.
 *
 * @param description where it comes from and which version it says it is
 */
public record RedisBinary(Path path, String description) {

  private static final Pattern VERSION = Pattern.compile("v=(\\d+)\\.(\\d+)\\.(\\d+)");

  /**
   * The redis-server on the PATH if it is 6.2 or newer, else the one that travels in a jar. The
   * system property {@code punctual.redis.binary} names another one; {@code embedded} forces the
   * jar's.
   *
   * @throws IllegalStateException when none runs here; the message names the cures
   */
  public static RedisBinary find() {
    String wish = System.getProperty("punctual.redis.binary", "");
    if (wish.isEmpty()) {
      Optional<RedisBinary> onPath = check(Path.of("redis-server"), "redis-server on the PATH");
      if (onPath.isPresent()) {
        return onPath.get();
      }
    } else if (!wish.equals("embedded")) {
      return check(Path.of(wish), wish).orElseThrow(() -> none(wish + " does not run or is old"));
    }
    return embedded();
  }

  private static RedisBinary embedded() {
    Path file;
    try {
      Path directory = Files.createTempDirectory("punctual-redis");
      file = ExecutableProvider.newJarResourceProvider(directory.toFile()).get().toPath();
      file.toFile().deleteOnExit();
      directory.toFile().deleteOnExit();
    } catch (IOException | RuntimeException e) {
      throw none("the embedded one could not be unpacked: " + e.getMessage());
    }
    return check(file, "the embedded redis-server")
        .orElseThrow(() -> none("the embedded one does not run here (it needs OpenSSL 3)"));
  }

  private static IllegalStateException none(String reason) {
    return new IllegalStateException(
        "No redis-server 6.2 or newer was found: "
            + reason
            + ". Install one (Debian, Ubuntu: apt-get install redis-server; macOS: brew install"
            + " redis), or name one with -Dpunctual.redis.binary=/path/to/redis-server, or use a"
            + " running Redis by its address.");
  }

  private static Optional<RedisBinary> check(Path path, String origin) {
    try {
      Process process =
          new ProcessBuilder(path.toString(), "--version").redirectErrorStream(true).start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      Matcher version = VERSION.matcher(output);
      if (!process.waitFor(10, TimeUnit.SECONDS) || !version.find()) {
        return Optional.empty();
      }
      int major = Integer.parseInt(version.group(1));
      int minor = Integer.parseInt(version.group(2));
      return major > 6 || (major == 6 && minor >= 2)
          ? Optional.of(new RedisBinary(path, origin + ", " + version.group().substring(2)))
          : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }
}
