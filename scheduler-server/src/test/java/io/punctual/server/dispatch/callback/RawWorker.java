package io.punctual.server.dispatch.callback;

import io.punctual.server.registry.WorkerInstance;
import io.punctual.wire.CallbackSignature;
import io.punctual.wire.WorkerMetadata;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A program at a port that reads HTTP requests and answers with whatever bytes a test wants. */
public final class RawWorker implements AutoCloseable {

  /** Answers one request; what it throws, and a false, end the connection. */
  @FunctionalInterface
  public interface Answers {
    boolean answer(String request, OutputStream out) throws Exception;
  }

  private final ServerSocket server;
  private final Answers answers;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private final List<Thread> threads = new CopyOnWriteArrayList<>();
  private final List<String> requests = new CopyOnWriteArrayList<>();
  private final AtomicInteger connections = new AtomicInteger();
  private final AtomicInteger open = new AtomicInteger();

  public RawWorker(Answers answers) throws IOException {
    this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    this.answers = answers;
    start(this::accept);
  }

  /** Answers each request with these bytes, and keeps the connection. */
  public static RawWorker saying(String answer) throws IOException {
    return new RawWorker(
        (request, out) -> {
          out.write(answer.getBytes(StandardCharsets.UTF_8));
          return true;
        });
  }

  private void start(Runnable task) {
    Thread thread = Thread.ofPlatform().daemon().unstarted(task);
    threads.add(thread);
    thread.start();
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket socket = server.accept();
        sockets.add(socket);
        connections.incrementAndGet();
        open.incrementAndGet();
        start(() -> serve(socket));
      } catch (IOException e) {
        return;
      }
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      String request;
      while ((request = read(socket.getInputStream())) != null) {
        requests.add(request);
        if (!answers.answer(request, socket.getOutputStream())) {
          return;
        }
        socket.getOutputStream().flush();
      }
    } catch (Exception e) {
      // The connection ends, as the test wants it.
      return;
    } finally {
      open.decrementAndGet();
    }
  }

  /** One request with the body that its length says; null at the end. */
  private static @Nullable String read(InputStream in) throws IOException {
    StringBuilder head = new StringBuilder();
    while (head.indexOf("\r\n\r\n") < 0) {
      int next = in.read();
      if (next < 0) {
        return null;
      }
      head.append((char) next);
    }
    int length =
        head.toString()
            .lines()
            .filter(line -> line.toLowerCase(java.util.Locale.ROOT).startsWith("content-length:"))
            .mapToInt(line -> Integer.parseInt(line.substring(15).strip()))
            .findFirst()
            .orElse(0);
    return head + new String(in.readNBytes(length), StandardCharsets.UTF_8);
  }

  /** How many connections were made. */
  public int connections() {
    return connections.get();
  }

  /** How many of them are not closed. */
  public int open() {
    return open.get();
  }

  List<String> requests() {
    return requests;
  }

  /** Until when the last request may be run, as its signed id says. */
  @Nullable Instant end() {
    return requests
        .get(requests.size() - 1)
        .lines()
        .filter(line -> line.startsWith(CallbackSignature.ID + ": "))
        .map(line -> CallbackSignature.end(line.substring(CallbackSignature.ID.length() + 2)))
        .findFirst()
        .orElseThrow();
  }

  public URI uri() {
    return URI.create("http://127.0.0.1:" + server.getLocalPort() + "/callback");
  }

  WorkerInstance instance(String protocol) {
    return new WorkerInstance(
        "worker-0",
        "shop",
        uri(),
        new WorkerMetadata(Set.of("job"), "/callback", protocol, 10),
        "eureka");
  }

  /** Ends all connections, as a process does that dies, and takes no more. Waits for that. */
  void die() throws IOException {
    server.close();
    for (Socket socket : sockets) {
      socket.close();
    }
    for (Thread thread : threads) {
      try {
        // A socket that a thread reads is not closed before that thread has noticed.
        thread.join(10_000);
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }
  }

  @Override
  public void close() throws IOException {
    die();
  }
}
