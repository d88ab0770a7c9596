package io.punctual.core.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.RedisBinary;
import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.TimeUnit;

/**
 * A Redis whose scripts order letters as a dictionary does, since its environment has a locale:
 * {@code a} is before {@code B}, as in en_US.UTF-8. Wants {@code localedef} and the sources of
 * locales (Debian: locales).
 */
final class LocaleRedis {

  private static final String BINARY = "punctual.redis.binary";

  private LocaleRedis() {}

  static RedisServer start() {
    try {
      Path directory = Files.createTempDirectory("punctual-locale");
      Path locale = directory.resolve("en_US.UTF-8");
      compile(locale);
      Path program = directory.resolve("redis-server");
      Files.writeString(
          program,
          "#!/bin/sh\nexec env LOCPATH=%s LC_ALL=en_US.UTF-8 %s \"$@\"\n"
              .formatted(directory, RedisBinary.find().path()));
      Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
      RedisServer server = start(program);
      assertThat(Resp.call(server.port(), "EVAL", "return tostring('a' < 'B')", "0"))
          .as("a is before B in a script, by the locale")
          .isEqualTo("true");
      return server;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Test classes of this module run one after the other: no other one sees the property. */
  private static RedisServer start(Path program) {
    String before = System.getProperty(BINARY, "");
    System.setProperty(BINARY, program.toString());
    try {
      return RedisServer.startTemporary();
    } finally {
      System.setProperty(BINARY, before);
    }
  }

  private static void compile(Path locale) throws IOException {
    Path log = locale.resolveSibling("log");
    Process localedef =
        new ProcessBuilder("localedef", "-i", "en_US", "-f", "UTF-8", locale.toString())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      assertThat(localedef.waitFor(2, TimeUnit.MINUTES)).as("localedef ends").isTrue();
    } catch (InterruptedException e) {
      localedef.destroyForcibly();
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while a locale was made", e);
    }
    assertThat(Files.exists(locale.resolve("LC_COLLATE")))
        .as(
            "localedef makes en_US.UTF-8 (Debian: apt-get install locales): %s",
            Files.readString(log))
        .isTrue();
  }
}
