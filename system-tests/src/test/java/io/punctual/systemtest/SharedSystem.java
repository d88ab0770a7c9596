package io.punctual.systemtest;

import io.punctual.redis.RedisServer;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

/** One registry and one Redis for all tests of a run; each test has names of its own in them. */
final class SharedSystem {

  static final Path DIRECTORY = Path.of("target", "system");
  static final Programs PROGRAMS = new Programs(DIRECTORY);
  static final RedisServer REDIS = RedisServer.startTemporary();
  static final JavaProcess REGISTRY = PROGRAMS.registry().start().awaitReady();

  private static final AtomicInteger NAMES = new AtomicInteger();

  private SharedSystem() {}

  static String name(String test) {
    return test + "-" + NAMES.incrementAndGet();
  }

  static Path record(String application) throws java.io.IOException {
    Path record = DIRECTORY.resolve(application + ".record");
    java.nio.file.Files.createDirectories(DIRECTORY);
    java.nio.file.Files.deleteIfExists(record);
    return record;
  }
}
