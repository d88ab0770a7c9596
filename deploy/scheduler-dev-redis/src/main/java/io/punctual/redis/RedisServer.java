package io.punctual.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A redis-server process on 127.0.0.1 with its own directory. Ends with this JVM; should the JVM be
 * killed, the next start on the same directory finds the orphan by its pid file and ends it.
 */
public final class RedisServer implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final RedisBinary binary;
  private final int port;
  private final Path directory;
  private final List<String> arguments;
  private final Thread atExit = new Thread(this::endAtExit, "redis-at-exit");
  private final boolean temporary;
  private @Nullable Process process;

  private RedisServer(
      RedisBinary binary, int port, Path directory, List<String> arguments, boolean temporary) {
    this.binary = binary;
    this.port = port;
    this.directory = directory;
    this.arguments = List.copyOf(arguments);
    this.temporary = temporary;
  }

  /**
   * Starts a server and waits until it answers.
   *
   * @param port on 127.0.0.1
   * @param directory for its data; made when it is not there
   * @param arguments further ones for redis-server, or {@code --sentinel} with them
   * @throws IllegalStateException if the port is taken or the server does not come up; the message
   *     says which, and shows the end of its log
   */
  public static RedisServer start(int port, Path directory, String... arguments) {
    return start(port, directory, List.of(arguments), false);
  }

  private static RedisServer start(
      int port, Path directory, List<String> arguments, boolean temporary) {
    RedisServer server = new RedisServer(RedisBinary.find(), port, directory, arguments, temporary);
    server.endOrphan();
    server.start();
    Runtime.getRuntime().addShutdownHook(server.atExit);
    return server;
  }

  /**
   * A server with an append-only file on a free port, whose data goes with it. It keeps what it
   * wrote when it is killed, and never waits for the disk: others use that, too, and leases of
   * tests are shorter than such a wait.
   */
  public static RedisServer startTemporary(String... arguments) {
    try {
      Path directory = Files.createTempDirectory("punctual-redis-data");
      List<String> all =
          new ArrayList<>(List.of("--appendonly", "yes", "--appendfsync", "no", "--save", ""));
      all.addAll(List.of(arguments));
      return start(Ports.free(), directory, all, true);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * From now on the server does not end by itself when this JVM is told to end: whoever calls this
   * closes it, when nobody needs it any more.
   */
  public void endsWhenClosed() {
    Runtime.getRuntime().removeShutdownHook(atExit);
  }

  /** Starts the server again, on the same port and data, after it was stopped or killed. */
  public void start() {
    if (!Ports.isFree(port)) {
      throw new IllegalStateException(
          "port " + port + " for Redis is taken; end what listens there, or choose another port");
    }
    try {
      Files.createDirectories(directory);
      Process started =
          new ProcessBuilder(command())
              .directory(directory.toFile())
              .redirectErrorStream(true)
              .redirectOutput(log().toFile())
              .start();
      process = started;
      Files.writeString(pidFile(), Long.toString(started.pid()));
      awaitAnswer(started);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private List<String> command() throws IOException {
    List<String> command = new ArrayList<>();
    command.add(binary.path().toString());
    if (arguments.contains("--sentinel")) {
      // A sentinel insists on a configuration file that it may rewrite.
      Path configuration = directory.resolve("sentinel.conf");
      if (!Files.exists(configuration)) {
        Files.writeString(configuration, "");
      }
      command.add(configuration.toString());
    }
    command.addAll(
        List.of(
            "--port",
            Integer.toString(port),
            "--bind",
            "127.0.0.1",
            "--dir",
            directory.toString()));
    command.addAll(arguments);
    return command;
  }

  private void awaitAnswer(Process started) throws IOException {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      try {
        if (Resp.call(port, "PING").equals("PONG")) {
          return;
        }
      } catch (IOException e) {
        if (!started.isAlive() || System.nanoTime() - deadline > 0) {
          started.destroyForcibly();
          throw new IllegalStateException(
              "Redis ("
                  + binary.description()
                  + ") did not come up on port "
                  + port
                  + ":\n"
                  + tail(),
              e);
        }
      }
      try {
        if (started.waitFor(20, TimeUnit.MILLISECONDS)) {
          throw new IllegalStateException(
              "Redis (" + binary.description() + ") ended at once:\n" + tail());
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted while Redis started", e);
      }
    }
  }

  private String tail() throws IOException {
    List<String> lines = Files.readAllLines(log(), StandardCharsets.UTF_8);
    return String.join("\n", lines.subList(Math.max(0, lines.size() - 15), lines.size()));
  }

  /** Ends a server that an earlier JVM left behind on this directory. */
  private void endOrphan() {
    try {
      if (!Files.exists(pidFile())) {
        return;
      }
      long pid = Long.parseLong(Files.readString(pidFile()).strip());
      Optional<ProcessHandle> orphan =
          ProcessHandle.of(pid)
              .filter(
                  handle ->
                      handle.info().command().orElse("").contains("redis")
                          && cwdIs(handle.pid(), directory));
      if (orphan.isPresent()) {
        orphan.get().destroy();
        orphan.get().onExit().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      }
      Files.deleteIfExists(pidFile());
    } catch (IOException | NumberFormatException e) {
      throw new IllegalStateException("the pid file " + pidFile() + " cannot be read", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException(
          "a Redis left behind does not end; end it by the pid in " + pidFile(), e);
    }
  }

  /** A pid may have been given to another program since: only a Redis in our directory is ours. */
  private static boolean cwdIs(long pid, Path directory) {
    Path link = Path.of("/proc/" + pid + "/cwd");
    try {
      return !Files.exists(Path.of("/proc")) || link.toRealPath().equals(directory.toRealPath());
    } catch (IOException e) {
      return false;
    }
  }

  private Path pidFile() {
    return directory.resolve("punctual-redis.pid");
  }

  private Path log() {
    return directory.resolve("redis.log");
  }

  /** Where the server listens, on 127.0.0.1. */
  public int port() {
    return port;
  }

  /** Which program runs. */
  public String description() {
    return binary.description();
  }

  /** The process id. */
  public long pid() {
    return running().pid();
  }

  /** Whether the process lives. */
  public boolean isRunning() {
    Process started = process;
    return started != null && started.isAlive();
  }

  /** Ends the server in good order, by SIGTERM. */
  public void stop() {
    Process running = running();
    running.destroy();
    await(running);
  }

  /** Ends the server by SIGKILL. */
  public void kill() {
    Process running = process;
    if (running != null) {
      running.destroyForcibly();
      await(running);
    }
  }

  /** Stops the process where it stands, until {@link #resume}. */
  public void suspend() {
    signal("-STOP");
  }

  /** Lets a suspended process go on. */
  public void resume() {
    signal("-CONT");
  }

  private void signal(String name) {
    try {
      await(new ProcessBuilder("kill", name, Long.toString(pid())).start());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void endAtExit() {
    kill();
    deleteTemporary();
  }

  private void deleteTemporary() {
    if (!temporary) {
      return;
    }
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (NoSuchFileException e) {
      // Deleted before.
      return;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Process running() {
    Process running = process;
    if (running == null) {
      throw new IllegalStateException("the server was not started");
    }
    return running;
  }

  private static void await(Process process) {
    try {
      if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    Process running = process;
    if (running != null && running.isAlive()) {
      stop();
    }
    try {
      Files.deleteIfExists(pidFile());
      deleteTemporary();
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (IllegalStateException e) {
      // The JVM is going down already; the hook runs anyway.
      return;
    }
  }
}
