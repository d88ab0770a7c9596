package io.punctual.core.engine;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import redis.clients.jedis.ConnectionPoolConfig;

/** A Redis server of its own, with an append-only file, that tests may kill, pause and restart. */
final class LocalRedis implements AutoCloseable {

  private final Path directory;
  private final int port;
  private Process process;

  LocalRedis() {
    try {
      directory = Files.createTempDirectory("punctual-redis");
      try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
        port = socket.getLocalPort();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    start();
  }

  void start() {
    try {
      process =
          new ProcessBuilder(
                  List.of(
                      "redis-server",
                      "--port",
                      Integer.toString(port),
                      "--bind",
                      "127.0.0.1",
                      "--dir",
                      directory.toString(),
                      "--save",
                      "",
                      "--appendonly",
                      "yes",
                      "--appendfsync",
                      "everysec"))
              .redirectErrorStream(true)
              .redirectOutput(directory.resolve("log").toFile())
              .start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Awaitility.await().atMost(Duration.ofSeconds(20)).ignoreExceptions().until(this::answers);
  }

  private boolean answers() throws IOException {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1000);
      socket.setSoTimeout(1000);
      socket.getOutputStream().write("PING\r\n".getBytes(java.nio.charset.StandardCharsets.UTF_8));
      return socket.getInputStream().read() == '+';
    }
  }

  void kill() {
    try {
      process.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Stops and continues the process, as a machine does that hangs. */
  void signal(String name) {
    try {
      new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  JedisConnectionFactory connections() {
    ConnectionPoolConfig pool = new ConnectionPoolConfig();
    pool.setMaxTotal(32);
    pool.setMaxIdle(32);
    JedisConnectionFactory factory =
        new JedisConnectionFactory(
            new RedisStandaloneConfiguration("127.0.0.1", port),
            JedisClientConfiguration.builder()
                .connectTimeout(Duration.ofSeconds(1))
                .readTimeout(Duration.ofSeconds(2))
                .usePooling()
                .poolConfig(pool)
                .build());
    factory.afterPropertiesSet();
    factory.start();
    return factory;
  }

  @Override
  public void close() {
    kill();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
