package io.punctual.systemtest;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A worker without the starter: it speaks both protocols, runs each delivery that arrives, however
 * old, and keeps a journal of them. It listens at several doors. A door can be shut: then
 * connections to it hang while they are made.
 */
final class PlainWorker implements AutoCloseable {

  static final String SINGLE = "single";
  static final String BATCH = "batch";

  private static final JsonMapper JSON = JsonMapper.builder().build();

  /** A delivery, as its request describes it. */
  record Begun(String taskId, int attempt, long version) {

    boolean isOlderThan(Begun other) {
      return attempt < other.attempt || version < other.version;
    }
  }

  private final Duration takes;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  // In the order in which they began; guarded by itself.
  private final List<Begun> journal = new ArrayList<>();
  private final Set<String> ended = ConcurrentHashMap.newKeySet();

  /**
   * @param takes how long each job takes
   */
  PlainWorker(Duration takes) {
    this.takes = takes;
  }

  /** Opens another door. */
  Door door() throws IOException {
    return new Door();
  }

  /** Returns the ids of the jobs of which a delivery began. */
  Set<String> begun() {
    synchronized (journal) {
      Set<String> ids = new HashSet<>();
      journal.forEach(one -> ids.add(one.taskId()));
      return ids;
    }
  }

  /** Returns the ids of the jobs of which a delivery ended. */
  Set<String> ended() {
    return Set.copyOf(ended);
  }

  /** Returns the deliveries that began after a newer one of the same job. */
  List<Begun> outdated() {
    synchronized (journal) {
      Map<String, List<Begun>> before = new HashMap<>();
      List<Begun> outdated = new ArrayList<>();
      for (Begun one : journal) {
        List<Begun> others = before.computeIfAbsent(one.taskId(), id -> new ArrayList<>());
        if (others.stream().anyMatch(one::isOlderThan)) {
          outdated.add(one);
        }
        others.add(one);
      }
      return outdated;
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }

  /** A port of the worker, with a path for each protocol. */
  final class Door implements AutoCloseable {

    private static final int QUEUE = 64;
    // A connection on the same machine is made at once, or not at all.
    private static final int REFUSED_AFTER_MS = 200;

    private final ServerSocket socket =
        new ServerSocket(0, QUEUE, InetAddress.getLoopbackAddress());
    private final Semaphore passage = new Semaphore(1);
    private final List<Socket> crowd = new ArrayList<>();
    private final Set<Integer> crowdPorts = ConcurrentHashMap.newKeySet();
    private final AtomicInteger pings = new AtomicInteger();
    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicInteger left = new AtomicInteger();

    private Door() throws IOException {
      threads.execute(this::accept);
    }

    int port() {
      return socket.getLocalPort();
    }

    String url() {
      return "http://127.0.0.1:" + port();
    }

    /** How many calls without jobs it has answered. */
    int pings() {
      return pings.get();
    }

    /** How many connections were made to it. */
    int connections() {
      return connections.get();
    }

    /** How many of the connections are over, whether or not a request came. */
    int left() {
      return left.get();
    }

    /**
     * Fills the system's queue of connections that were made and not accepted: from now on, no
     * connection to this door is made, and none is refused.
     */
    void shut() throws IOException {
      passage.acquireUninterruptibly();
      crowd.clear();
      crowdPorts.clear();
      for (int i = 0; i < 2 * QUEUE; i++) {
        if (!knock()) {
          return;
        }
      }
      throw new IllegalStateException("the queue of port " + port() + " is never full");
    }

    private boolean knock() throws IOException {
      Socket one = new Socket();
      crowd.add(one);
      try {
        one.connect(new InetSocketAddress(socket.getInetAddress(), port()), REFUSED_AFTER_MS);
        crowdPorts.add(one.getLocalPort());
        return true;
      } catch (SocketTimeoutException e) {
        return false;
      }
    }

    /** Lets in all that wait. */
    void open() throws IOException {
      for (Socket one : crowd) {
        one.close();
      }
      passage.release();
    }

    private void accept() {
      try {
        while (true) {
          Socket one = socket.accept();
          passage.acquireUninterruptibly();
          passage.release();
          if (crowdPorts.contains(one.getPort())) {
            one.close();
          } else {
            connections.incrementAndGet();
            threads.execute(() -> serve(one));
          }
        }
      } catch (IOException ignored) {
        // The door was closed.
      }
    }

    private void serve(Socket connection) {
      try (connection) {
        InputStream in = new BufferedInputStream(connection.getInputStream());
        String request = line(in);
        if (!request.isEmpty()) {
          connection.getOutputStream().write(answer(request, in).getBytes(StandardCharsets.UTF_8));
        }
      } catch (IOException e) {
        // The scheduler sees that the connection broke, and delivers again.
        throw new UncheckedIOException(e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } finally {
        left.incrementAndGet();
      }
    }

    private String answer(String request, InputStream in) throws IOException, InterruptedException {
      Map<String, String> headers = headers(in);
      byte[] body = in.readNBytes(Integer.parseInt(headers.getOrDefault("content-length", "0")));
      if (request.startsWith("OPTIONS ")) {
        pings.incrementAndGet();
        return "HTTP/1.1 204 No Content\r\nAllow: POST\r\nConnection: close\r\n\r\n";
      } else if (request.startsWith("POST /" + SINGLE)) {
        run(List.of(single(headers)));
        return ok("");
      }
      JsonNode jobs = JSON.readTree(body).get("jobs");
      if (jobs.isEmpty()) {
        pings.incrementAndGet();
        return ok("");
      }
      List<Begun> deliveries = new ArrayList<>();
      StringBuilder lines = new StringBuilder();
      for (JsonNode job : jobs) {
        String taskId = job.get("taskId").stringValue();
        deliveries.add(
            new Begun(taskId, job.get("attempt").intValue(), job.get("version").longValue()));
        lines.append(
            "{\"taskId\":\"%s\",\"incarnation\":\"%s\",\"outcome\":\"done\"}\n"
                .formatted(taskId, job.get("incarnation").stringValue()));
      }
      run(deliveries);
      return ok(lines.toString());
    }

    @Override
    public void close() throws IOException {
      socket.close();
      for (Socket one : crowd) {
        one.close();
      }
      // So that the thread that accepts ends.
      passage.release();
    }
  }

  private void run(List<Begun> deliveries) throws InterruptedException {
    synchronized (journal) {
      journal.addAll(deliveries);
    }
    // The work itself.
    Thread.sleep(takes);
    deliveries.forEach(one -> ended.add(one.taskId()));
  }

  private static Begun single(Map<String, String> headers) {
    return new Begun(
        header(headers, "ce-id"),
        Integer.parseInt(header(headers, "ce-attempt")),
        Long.parseLong(header(headers, "punctual-version")));
  }

  private static String header(Map<String, String> headers, String name) {
    return Objects.requireNonNull(headers.get(name), name);
  }

  private static Map<String, String> headers(InputStream in) throws IOException {
    Map<String, String> headers = new HashMap<>();
    for (String line = line(in); !line.isEmpty(); line = line(in)) {
      int colon = line.indexOf(':');
      headers.put(
          line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip());
    }
    return headers;
  }

  /** Returns the next line; empty at the end of the head and of the stream. */
  private static String line(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int one = in.read(); one >= 0 && one != '\n'; one = in.read()) {
      line.write(one);
    }
    return line.toString(StandardCharsets.ISO_8859_1).strip();
  }

  private static String ok(String lines) {
    return "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n"
        + "Content-Length: %d\r\n\r\n%s".formatted(lines.length(), lines);
  }
}
