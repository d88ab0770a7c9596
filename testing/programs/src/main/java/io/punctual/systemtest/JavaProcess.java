package io.punctual.systemtest;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;

/** A JVM of its own that can be ended in every way, and started again just as it was. */
public final class JavaProcess implements AutoCloseable {

  /** The program that is this JVM, too. */
  static final String JAVA = Path.of(System.getProperty("java.home"), "bin", "java").toString();

  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final int SHOWN_LINES = 30;

  private final String name;
  private final int port;
  private final String scheme;
  private final HttpClient client;
  private final List<String> command;
  private final Path directory;
  private final Path log;
  // Should this JVM be ended, its children must not stay.
  private final Thread atExit = new Thread(this::destroy, "end-process");
  private final Map<String, String> environment = new LinkedHashMap<>();
  private String host = "127.0.0.1";
  private @Nullable Process process;

  /**
   * Prepares a process.
   *
   * @param scheme what it speaks: http or https
   * @param port where it listens
   * @param client asks whether it is ready
   * @param arguments behind {@code java}
   */
  JavaProcess(
      String name, String scheme, int port, HttpClient client, Path log, List<String> arguments) {
    this(name, scheme, port, client, log, JAVA, Path.of(""), arguments);
  }

  /**
   * Prepares a process on another Java, in another directory.
   *
   * @param java the program
   */
  JavaProcess(
      String name,
      String scheme,
      int port,
      HttpClient client,
      Path log,
      String java,
      Path directory,
      List<String> arguments) {
    this.name = name;
    this.directory = directory.toAbsolutePath();
    this.scheme = scheme;
    this.client = client;
    this.port = port;
    this.log = log;
    this.command = new ArrayList<>();
    command.add(java);
    command.addAll(arguments);
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  /** Sets the address at which it listens, instead of 127.0.0.1. */
  JavaProcess at(String address) {
    host = address;
    return this;
  }

  /** Whether it was started and has not ended. */
  boolean isAlive() {
    Process started = process;
    return started != null && started.isAlive();
  }

  /** Returns its host and port. */
  public String address() {
    return host + ":" + port;
  }

  /** Sets a variable of its environment, for its next start. */
  JavaProcess with(String variable, String value) {
    environment.put(variable, value);
    return this;
  }

  /** Starts it; does not wait until it is ready. */
  public JavaProcess start() {
    try {
      Files.createDirectories(log.getParent());
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .directory(directory.toFile())
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
      builder.environment().putAll(environment);
      process = builder.start();
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits until its readiness says UP. */
  public JavaProcess awaitReady() {
    return awaitReady(Waiting.PATIENCE);
  }

  /** Waits at most that long until its readiness says UP. */
  JavaProcess awaitReady(Duration patience) {
    try {
      Waiting.until(
          name + " is ready (its log: " + log + ")",
          patience,
          // A start takes seconds, and many start at a time.
          Duration.ofMillis(200),
          () -> {
            if (!process().isAlive()) {
              throw ended();
            }
            return Http.get(client, url() + "/actuator/health/readiness").status() == 200;
          });
    } catch (ConditionTimeoutException e) {
      throw new IllegalStateException(
          name + " does not become ready; its threads: " + dumpThreads(pid()), e);
    }
    return this;
  }

  /** Waits until its log has that text, for programs that say nothing of their readiness. */
  public JavaProcess awaitLog(String text) {
    Waiting.until(
        name + " logs '" + text + "' (its log: " + log + ")",
        () -> {
          // In this order: what it writes last is read as well.
          boolean alive = process().isAlive();
          if (Files.readString(log).contains(text)) {
            return true;
          } else if (!alive) {
            throw ended();
          }
          return false;
        });
    return this;
  }

  /** Waits until its port accepts connections, for programs that speak no HTTP. */
  public JavaProcess awaitPort() {
    Waiting.until(
        name + " listens (its log: " + log + ")",
        () -> {
          if (!process().isAlive()) {
            throw ended();
          }
          try (Socket socket = new Socket(host, port)) {
            return socket.isConnected();
          }
        });
    return this;
  }

  private IllegalStateException ended() throws IOException {
    List<String> lines = Files.readAllLines(log);
    String last =
        String.join("\n", lines.subList(Math.max(0, lines.size() - SHOWN_LINES), lines.size()));
    return new IllegalStateException(
        name + " ended; its log is " + log + ", and ends with:\n" + last);
  }

  /** Its base address. */
  public String url() {
    return scheme + "://" + address();
  }

  /** Where it listens. */
  public int port() {
    return port;
  }

  /** As its log is named. */
  @Override
  public String toString() {
    return name + "-" + port;
  }

  /** The id of the process that was started last. */
  public long pid() {
    return process().pid();
  }

  /** Its log file. */
  public Path log() {
    return log;
  }

  /** Ends it at once, by SIGKILL. */
  public void kill() {
    process().destroyForcibly();
    await(process(), PATIENCE);
  }

  /** Asks it to end, by SIGTERM, and waits until it has. */
  public void terminate() {
    terminate(PATIENCE);
  }

  /** Asks it to end, by SIGTERM, and waits at most that long until it has. */
  void terminate(Duration patience) {
    process().destroy();
    await(process(), patience);
  }

  /** Stops it where it stands, by SIGSTOP, until {@link #resume}. */
  public void suspend() {
    signal("-STOP");
  }

  /** Lets it go on, by SIGCONT. */
  public void resume() {
    signal("-CONT");
  }

  private void signal(String signal) {
    try {
      await(new ProcessBuilder("kill", signal, Long.toString(process().pid())).start(), PATIENCE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void await(Process ending, Duration patience) {
    try {
      if (!ending.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new IllegalStateException(
            name
                + " does not end; its threads: "
                + dumpThreads(ending.pid())
                + ", its log: "
                + log);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Live objects by class, as {@code jcmd GC.class_histogram} shows them after a collection. */
  public String histogram() {
    try {
      Process jcmd =
          new ProcessBuilder(jcmd(), Long.toString(pid()), "GC.class_histogram")
              .redirectErrorStream(true)
              .start();
      return new String(jcmd.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String jcmd() {
    return Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
  }

  /** Writes what its threads do, also the virtual ones, into a file beside its log. */
  private Path dumpThreads(long pid) {
    Path file = log.resolveSibling(log.getFileName() + "." + pid + ".threads");
    try {
      Files.deleteIfExists(file);
      new ProcessBuilder(jcmd(), Long.toString(pid), "Thread.dump_to_file", file.toString())
          .start()
          .waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
      new ProcessBuilder("kill", "-QUIT", Long.toString(pid)).start();
      return file;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return file;
    }
  }

  private Process process() {
    Process started = process;
    if (started == null) {
      throw new IllegalStateException(name + " was not started");
    }
    return started;
  }

  private void destroy() {
    Process started = process;
    if (started != null) {
      started.destroyForcibly();
    }
  }

  @Override
  public void close() {
    destroy();
    Process started = process;
    if (started != null) {
      await(started, PATIENCE);
    }
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException e) {
      // This JVM is going down already; the hook runs anyway.
      return;
    }
  }
}
