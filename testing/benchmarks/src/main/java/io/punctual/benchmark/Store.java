package io.punctual.benchmark;

import io.punctual.benchmark.contender.Surroundings;
import io.punctual.redis.Ports;
import io.punctual.systemtest.Waiting;
import io.punctual.test.rabbitmq.RabbitServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.springframework.util.FileSystemUtils;

/** The server of a contender that is neither Redis nor PostgreSQL, with data of its own. */
final class Store implements AutoCloseable {

  private final Path directory;
  private final boolean temporary;
  private final int port = Ports.free();
  private final List<Process> processes = new ArrayList<>();
  // Should this JVM be ended, its children must not stay.
  private final Thread atExit = new Thread(this::destroy, "end-store");

  private Store(Path directory, boolean temporary) {
    this.directory = directory;
    this.temporary = temporary;
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  /** beanstalkd without its log. */
  static Store beanstalkd(Path directory) throws IOException, NotInstalledException {
    NotInstalledException.unless("beanstalkd");
    Store store = new Store(directory, false);
    store.start("beanstalkd", Map.of(), "beanstalkd", "-l", "127.0.0.1", "-p", "" + store.port);
    return store.awaitPort();
  }

  /** RabbitMQ as a node of its own, with a port mapper of its own. */
  static Store rabbitMq() throws IOException, NotInstalledException {
    NotInstalledException.unless("rabbitmq-server");
    NotInstalledException.unless("epmd");
    Store store = new Store(Files.createTempDirectory("punctual-rabbitmq"), true);
    int mapper = Ports.free();
    store.start("epmd", Map.of(), "epmd", "-address", "127.0.0.1", "-port", "" + mapper);
    store.start(
        "rabbitmq",
        RabbitServer.environment(store.directory, store.port, mapper),
        RabbitServer.program());
    return store.awaitPort();
  }

  /** ActiveMQ Artemis as its own command makes a broker. */
  static Store artemis() throws IOException, NotInstalledException {
    NotInstalledException.unless("artemis");
    Store store = new Store(Files.createTempDirectory("punctual-artemis"), true);
    Path broker = store.directory.resolve("broker");
    String unused =
        Machine.output(
            "artemis",
            "create",
            "--silent",
            "--allow-anonymous",
            "--user=bench",
            "--password=bench",
            "--no-web",
            "--no-autotune",
            "--nio",
            "--host=127.0.0.1",
            "--default-port=" + store.port,
            "--no-amqp-acceptor",
            "--no-hornetq-acceptor",
            "--no-mqtt-acceptor",
            "--no-stomp-acceptor",
            broker.toString());
    store.start("artemis", Map.of(), broker.resolve("bin/artemis").toString(), "run");
    return store.awaitPort();
  }

  private void start(String name, Map<String, String> environment, String... command)
      throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve(name + ".log").toFile());
    builder.environment().putAll(environment);
    processes.add(builder.start());
  }

  private Store awaitPort() {
    Process last = processes.getLast();
    Waiting.until(
        "the store listens; its log is in " + directory,
        () -> {
          if (!last.isAlive()) {
            throw new IllegalStateException("the store ended; its log is in " + directory);
          }
          return !Ports.isFree(port);
        });
    return this;
  }

  Surroundings surroundings() {
    return new Surroundings(0, "", "", port, processes.getLast().pid());
  }

  private void destroy() {
    processes.reversed().forEach(Process::destroyForcibly);
  }

  @Override
  public void close() throws IOException {
    destroy();
    processes.forEach(process -> process.onExit().join());
    if (temporary) {
      FileSystemUtils.deleteRecursively(directory);
    }
    Runtime.getRuntime().removeShutdownHook(atExit);
  }
}
