package io.punctual.core.store;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.util.SafeEncoder;

/** A redis-server of its own on a free port of loopback, nothing kept on disk. */
final class RedisProcess implements AutoCloseable {

  /** Cluster nodes talk to each other on the port that is this much higher. */
  private static final int BUS = 10_000;

  private final Path directory;
  private final Process process;
  private final int port;
  private final UnifiedJedis client;

  /** With further arguments of redis-server; {@code %port} and {@code %dir} are replaced. */
  RedisProcess(String... arguments) {
    try {
      directory = Files.createTempDirectory("punctual-store");
      port = freePort();
      List<String> command =
          new ArrayList<>(List.of("redis-server", "--port", Integer.toString(port)));
      command.addAll(List.of("--bind", "127.0.0.1", "--save", "", "--dir", directory.toString()));
      command.addAll(List.of(arguments));
      process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(directory.resolve("log").toFile())
              .start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
    client = RedisClient.create("127.0.0.1", port);
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .ignoreExceptions()
        .until(() -> client.ping().equals("PONG"));
  }

  /** Started as a Sentinel that watches the master at that port by the name {@code main}. */
  static RedisProcess sentinelOf(int master) {
    try {
      Path configuration = Files.createTempFile("punctual-sentinel", ".conf");
      Files.writeString(
          configuration,
          """
          sentinel monitor main 127.0.0.1 %d 1
          sentinel down-after-milliseconds main 2000
          sentinel failover-timeout main 10000
          """
              .formatted(master));
      return new RedisProcess(configuration);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private RedisProcess(Path sentinelConfiguration) throws IOException {
    directory = sentinelConfiguration;
    port = freePort();
    process =
        new ProcessBuilder(
                "redis-server",
                sentinelConfiguration.toString(),
                "--port",
                Integer.toString(port),
                "--bind",
                "127.0.0.1",
                "--sentinel")
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
    client = RedisClient.create("127.0.0.1", port);
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .ignoreExceptions()
        .until(() -> client.ping().equals("PONG"));
  }

  private static int freePort() {
    for (int tries = 0; tries < 200; tries++) {
      int port = ThreadLocalRandom.current().nextInt(20_000, 50_000);
      if (isFree(port) && isFree(port + BUS)) {
        return port;
      }
    }
    throw new IllegalStateException("no free port found");
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      return socket.isBound();
    } catch (IOException e) {
      return false;
    }
  }

  int port() {
    return port;
  }

  UnifiedJedis client() {
    return client;
  }

  Object command(Command command, String... arguments) {
    CommandArguments all = new CommandArguments(command);
    for (String argument : arguments) {
      all.add(argument);
    }
    return client.executeCommand(all);
  }

  /** A command whose reply is text, such as INFO or CLIENT LIST. */
  String text(Command command, String... arguments) {
    return SafeEncoder.encode((byte[]) command(command, arguments));
  }

  /** How often a command was called, by INFO commandstats. */
  long calls(String name) {
    return text(Command.INFO, "commandstats")
        .lines()
        .filter(line -> line.startsWith("cmdstat_" + name + ":calls="))
        .mapToLong(line -> Long.parseLong(line.replaceFirst(".*calls=(\\d+).*", "$1")))
        .sum();
  }

  @Override
  public void close() {
    client.close();
    try {
      process.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
