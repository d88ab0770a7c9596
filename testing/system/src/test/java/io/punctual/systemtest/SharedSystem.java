package io.punctual.systemtest;

import io.punctual.redis.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** One registry and one Redis for all tests of a run; each test has names of its own in them. */
final class SharedSystem {

  static final Path DIRECTORY = emptied(Path.of("target", "system"));
  static final Programs PROGRAMS = new Programs(DIRECTORY);
  static final RedisServer REDIS = RedisServer.startTemporary();
  static final JavaProcess REGISTRY = PROGRAMS.registry().start().awaitReady();

  private SharedSystem() {}

  /** Logs and records of an earlier run would only confuse. */
  private static Path emptied(Path directory) {
    try {
      if (Files.exists(directory)) {
        try (Stream<Path> files = Files.walk(directory)) {
          List<Path> deepestFirst = files.sorted(Comparator.reverseOrder()).toList();
          for (Path file : deepestFirst) {
            Files.delete(file);
          }
        }
      }
      Files.createDirectories(directory);
      return directory;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
