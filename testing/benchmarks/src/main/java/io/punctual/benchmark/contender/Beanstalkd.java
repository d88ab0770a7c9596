package io.punctual.benchmark.contender;

import io.punctual.benchmark.contest.Contender;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;

/** beanstalkd without its log, by a small client of its protocol: put, reserve, delete. */
final class Beanstalkd implements Contender {

  private static final int WORKERS = 16;
  private static final int PIPELINED = 100;

  private final Surroundings surroundings;
  private final Queue<Connection> connections = new ConcurrentLinkedQueue<>();
  private final ThreadLocal<Connection> submitting = ThreadLocal.withInitial(this::connect);
  private volatile boolean closed;

  Beanstalkd(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public String description() {
    return "beanstalkd without log: " + WORKERS + " connections; delays are whole seconds";
  }

  @Override
  public void open(Consumer<String> handler) {
    for (int i = 0; i < WORKERS; i++) {
      Connection connection = connect();
      Thread unused = Thread.ofPlatform().daemon().start(() -> work(connection, handler));
    }
  }

  private void work(Connection connection, Consumer<String> handler) {
    try {
      while (!closed) {
        String[] reserved = connection.call("reserve", "RESERVED").split(" ", -1);
        handler.accept(connection.body(Integer.parseInt(reserved[2])));
        String unused = connection.call("delete " + reserved[1], "DELETED");
      }
    } catch (IOException e) {
      if (!closed) {
        throw new IllegalStateException(e);
      }
    }
  }

  private Connection connect() {
    try {
      Connection connection = new Connection(surroundings.storePort());
      connections.add(connection);
      return connection;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void submit(Job job) throws Exception {
    bulk(List.of(job));
  }

  @Override
  public String bulkCall() {
    return "none; 100 puts pipelined";
  }

  @Override
  public void bulk(List<Job> jobs) throws Exception {
    Connection connection = submitting.get();
    for (int from = 0; from < jobs.size(); from += PIPELINED) {
      List<Job> some = jobs.subList(from, Math.min(jobs.size(), from + PIPELINED));
      for (Job job : some) {
        // Rounded up, so that nothing is early.
        long seconds = Math.max(0, (job.due() - System.currentTimeMillis() + 999) / 1000);
        connection.send(
            "put 0 " + seconds + " 60 " + job.payload().length() + "\r\n" + job.payload());
      }
      connection.flush();
      for (int i = 0; i < some.size(); i++) {
        String unused = connection.answer("INSERTED");
      }
    }
  }

  @Override
  public long pending() throws Exception {
    try (Connection connection = new Connection(surroundings.storePort())) {
      String[] ok = connection.call("stats", "OK").split(" ", -1);
      return connection
          .body(Integer.parseInt(ok[1]))
          .lines()
          .filter(line -> line.matches("current-jobs-(delayed|ready|reserved): \\d+"))
          .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(' ') + 1)))
          .sum();
    }
  }

  @Override
  public long storeBytes() {
    return surroundings.storeResident();
  }

  @Override
  public void close() {
    closed = true;
    for (Connection connection : connections) {
      try {
        connection.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static final class Connection implements AutoCloseable {

    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;

    Connection(int port) throws IOException {
      socket = new Socket(InetAddress.getLoopbackAddress(), port);
      socket.setTcpNoDelay(true);
      in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
      out = new BufferedOutputStream(socket.getOutputStream(), 1 << 16);
    }

    void send(String line) throws IOException {
      out.write(line.getBytes(StandardCharsets.US_ASCII));
      out.write('\r');
      out.write('\n');
    }

    void flush() throws IOException {
      out.flush();
    }

    String answer(String expected) throws IOException {
      StringBuilder line = new StringBuilder(32);
      int c = in.read();
      while (c != '\r') {
        if (c < 0) {
          throw new IOException("beanstalkd closed the connection");
        }
        line.append((char) c);
        c = in.read();
      }
      int unused = in.read();
      if (!line.toString().startsWith(expected)) {
        throw new IOException("beanstalkd said " + line + ", not " + expected);
      }
      return line.toString();
    }

    String call(String line, String expected) throws IOException {
      send(line);
      flush();
      return answer(expected);
    }

    String body(int length) throws IOException {
      byte[] body = in.readNBytes(length);
      in.skipNBytes(2);
      return new String(body, StandardCharsets.US_ASCII);
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }
}
