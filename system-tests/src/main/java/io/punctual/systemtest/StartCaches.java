package io.punctual.systemtest;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * What the JVM of a program loads at its start, kept in a file for the next start (JEP 483, JEP
 * 514), which takes half the processor time then; the tests are mostly starts.
 */
final class StartCaches {

  private static final long PATIENCE_S = 120;

  private final Path directory;
  private final Map<String, Path> made = new ConcurrentHashMap<>();

  /**
   * @param directory where the caches are; one that is newer than its program is taken again
   */
  StartCaches(Path directory) {
    this.directory = directory;
  }

  /**
   * The flag that takes a program's cache, which is made if it is not there.
   *
   * @param flags of every start
   * @param options with which the program comes up
   */
  String flag(Launch launch, List<String> flags, List<String> options) {
    return "-XX:AOTCache="
        + made.computeIfAbsent(launch.name(), any -> make(launch, flags, options));
  }

  private Path make(Launch launch, List<String> flags, List<String> options) {
    Path cache = directory.resolve(launch.name() + ".aot");
    try {
      if (isNewer(cache, launch.jars())) {
        return cache;
      }
      Files.createDirectories(directory);
      // Under another name at first: somebody else may make or use it.
      Path fresh = directory.resolve(launch.name() + "-" + ProcessHandle.current().pid() + ".aot");
      Path log = directory.resolve(launch.name() + ".log");
      train(launch, flags, options, fresh, log);
      if (!Files.exists(fresh)) {
        throw new IllegalStateException("no start cache was made; see " + log);
      }
      return Files.move(fresh, cache, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private static void train(
      Launch launch, List<String> flags, List<String> options, Path cache, Path log)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(JavaProcess.JAVA));
    command.addAll(flags);
    command.add("-XX:AOTCacheOutput=" + cache);
    // It ends where its beans are made; nothing is served and nobody is told of it.
    command.add("-Dspring.context.exit=onRefresh");
    command.addAll(launch.words());
    command.addAll(options);
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    if (!process.waitFor(PATIENCE_S, TimeUnit.SECONDS)) {
      process.destroyForcibly();
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
