package io.punctual.systemtest;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What the JVM of a program loads at its start, kept in a file for the next start (JEP 483, JEP
 * 514), which takes half the processor time then; the tests are mostly starts. To make a cache
 * costs as much as five starts save: the full build makes them, all others use those that are
 * there.
 */
final class StartCaches {

  private final Path directory;
  private final boolean making;
  private final Map<String, Optional<Path>> made = new ConcurrentHashMap<>();

  /**
   * @param directory where the caches are; one that is newer than its program is taken again
   * @param making whether to make those that are missing
   */
  StartCaches(Path directory, boolean making) {
    this.directory = directory;
    this.making = making;
  }

  /** Runs a program once. */
  interface Training {
    /**
     * Starts the program with an extra flag, waits until it is ready, and ends it by SIGTERM.
     *
     * @param log what it writes
     */
    void run(String flag, Path log);
  }

  /**
   * Returns the flags that use a program's cache; empty if it is missing and was not made. One is
   * made at a time: several at once, beside other tests, take longer than a start may take.
   */
  List<String> flags(Launch launch, Training training) {
    Optional<Path> known = made.get(launch.name());
    if (known == null) {
      synchronized (this) {
        known = made.computeIfAbsent(launch.name(), any -> make(launch, training));
      }
    }
    return known.map(cache -> List.of("-XX:AOTCache=" + cache)).orElse(List.of());
  }

  private Optional<Path> make(Launch launch, Training training) {
    Path cache = directory.resolve(launch.name() + ".aot");
    Path log = directory.resolve(launch.name() + ".log");
    try {
      if (isNewer(cache, launch.jars())) {
        return Optional.of(cache);
      } else if (!making) {
        return Optional.empty();
      }
      Files.createDirectories(directory);
      // Under another name at first: another JVM may make or use it.
      Path fresh = directory.resolve(launch.name() + "-" + ProcessHandle.current().pid() + ".aot");
      Files.deleteIfExists(log);
      training.run("-XX:AOTCacheOutput=" + fresh, log);
      return Optional.of(Files.move(fresh, cache, StandardCopyOption.ATOMIC_MOVE));
    } catch (IOException | UncheckedIOException | IllegalStateException e) {
      System.out.println(
          "No start cache was made for "
              + launch.name()
              + ": "
              + e
              + ". It starts without one; see "
              + log);
      return Optional.empty();
    }
  }

  private static boolean isNewer(Path cache, List<Path> jars) throws IOException {
    if (!Files.exists(cache)) {
      return false;
    }
    FileTime time = Files.getLastModifiedTime(cache);
    for (Path jar : jars) {
      if (Files.getLastModifiedTime(jar).compareTo(time) >= 0) {
        return false;
      }
    }
    return true;
  }
}
