package io.punctual.systemtest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A program of {@code examples}, run as its README says; what it prints can be read. */
final class ExampleProgram implements AutoCloseable {

  private static final long PATIENCE_S = 60;
  private static final AtomicInteger NUMBERS = new AtomicInteger();

  private final Process process;
  private final Path log;
  // Should this JVM be ended, its children must not stay.
  private final Thread atExit;

  private ExampleProgram(Process process, Path log) {
    this.process = process;
    this.log = log;
    this.atExit = new Thread(process::destroyForcibly, "end-example");
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  /** Fails, and says what to install, where a language is missing or too old. */
  static void requireLanguages() throws IOException {
    require(
        "Python 3.10",
        "python3",
        "python3",
        "-c",
        "import sys; sys.exit(sys.version_info < (3, 10))");
    require("PHP 8.1", "php-cli", "php", "-r", "exit(PHP_VERSION_ID < 80100 ? 1 : 0);");
    require(
        "Node 18",
        "nodejs",
        "node",
        "-e",
        "process.exit(parseInt(process.version.slice(1)) < 18 ? 1 : 0)");
    require("npm 8", "npm", "npm", "--version");
  }

  /** Runs it to its end, which must be a good one. */
  static void run(Path directory, Map<String, String> environment, String... command)
      throws IOException {
    try (ExampleProgram program = start(directory, environment, command)) {
      program.awaitEnd();
    }
  }

  /** Runs commands of a page in a shell, where a failed call ends them; returns what they print. */
  static List<String> shell(Path directory, Map<String, String> environment, String commands)
      throws IOException {
    String curl = "curl() { command curl -fsS \"$@\" && echo; }\n";
    try (ExampleProgram program =
        start(directory, environment, "bash", "-euo", "pipefail", "-c", curl + commands)) {
      program.awaitEnd();
      return program.lines();
    }
  }

  /** Starts it in that directory. */
  static ExampleProgram start(Path directory, Map<String, String> environment, String... command)
      throws IOException {
    Path logs = SharedSystem.DIRECTORY.resolve("logs").toAbsolutePath();
    Files.createDirectories(logs);
    Path program = Path.of(command[0]).getFileName();
    Path log = logs.resolve("example-" + NUMBERS.incrementAndGet() + "-" + program + ".log");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    builder.environment().putAll(environment);
    return new ExampleProgram(builder.start(), log);
  }

  /** Whole lines that it has printed so far. */
  List<String> lines() throws IOException {
    String text = Files.readString(log);
    return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
  }

  /** Lines that begin so. */
  List<String> lines(String prefix) throws IOException {
    return lines().stream().filter(line -> line.startsWith(prefix)).toList();
  }

  /** Waits until it has printed so many lines that begin so. */
  void await(String prefix, int count) {
    Waiting.until(
        count + " lines '" + prefix + "' in " + log,
        () -> {
          // In this order: what it prints last is read as well.
          boolean alive = process.isAlive();
          if (lines(prefix).size() >= count) {
            return true;
          }
          if (!alive) {
            throw new IllegalStateException("the example ended; its log: " + log);
          }
          return false;
        });
  }

  /** Ends it at once, by SIGKILL. */
  void kill() {
    process.destroyForcibly();
    exitValue();
  }

  /** Asks it to end, by SIGTERM. */
  void askToEnd() {
    process.destroy();
  }

  /** Asks it to end, by SIGTERM, and waits until it has, well. */
  void terminate() {
    askToEnd();
    awaitEnd();
  }

  /** Interrupts it, as Ctrl-C does, and waits until it has ended. */
  void interrupt() throws IOException {
    new ProcessBuilder("kill", "-INT", Long.toString(process.pid())).start();
    exitValue();
  }

  /** Waits until it has ended, well. */
  void awaitEnd() {
    int exit = exitValue();
    if (exit != 0) {
      throw new IllegalStateException("the example ended with " + exit + "; its log: " + log);
    }
  }

  private int exitValue() {
    try {
      if (!process.waitFor(PATIENCE_S, TimeUnit.SECONDS)) {
        throw new IllegalStateException("the example does not end; its log: " + log);
      }
      return process.exitValue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    kill();
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException e) {
      // This JVM is going down already; the hook runs anyway.
      return;
    }
  }

  private static void require(String what, String debianPackage, String... check)
      throws IOException {
    boolean there;
    try {
      Process checking =
          new ProcessBuilder(check)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      there = checking.waitFor() == 0;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    } catch (IOException e) {
      there = false;
    }
    if (!there) {
      throw new IllegalStateException(
          "the examples need %s or newer, and '%s' on the PATH is missing or older; install it (Debian: apt-get install %s)"
              .formatted(what, check[0], debianPackage));
    }
  }
}
