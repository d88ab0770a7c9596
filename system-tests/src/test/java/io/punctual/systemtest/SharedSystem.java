package io.punctual.systemtest;

import io.punctual.redis.RedisServer;
import java.nio.file.Path;

/** One registry and one Redis for all tests of a run; each test has names of its own in them. */
final class SharedSystem {

  static final Path DIRECTORY = Path.of("target", "system");
  static final Programs PROGRAMS = new Programs(DIRECTORY);
  static final RedisServer REDIS = RedisServer.startTemporary();
  static final JavaProcess REGISTRY = PROGRAMS.registry().start().awaitReady();

  private SharedSystem() {}
}
