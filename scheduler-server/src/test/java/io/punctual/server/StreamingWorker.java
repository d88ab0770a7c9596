package io.punctual.server;

import com.sun.net.httpserver.HttpServer;
import io.punctual.wire.CallbackRequest;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import tools.jackson.databind.json.JsonMapper;

/** A worker instance that decides line by line when to answer, and when to break off. */
final class StreamingWorker implements AutoCloseable {

  private static final JsonMapper JSON = new JsonMapper();

  /** Writes the answer; what it throws cuts the connection. */
  @FunctionalInterface
  interface Answer {
    void write(CallbackRequest request, OutputStream out) throws IOException, InterruptedException;
  }

  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Map<String, Answer> answers = new ConcurrentHashMap<>();
  private final Map<String, List<CallbackRequest>> requests = new ConcurrentHashMap<>();
  private final HttpServer server;

  StreamingWorker() throws IOException {
    this(0);
  }

  /**
   * @param port 0 for any that is free
   */
  StreamingWorker(int port) throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    server.setExecutor(threads);
    server.createContext(
        "/",
        exchange -> {
          String path = exchange.getRequestURI().getPath();
          CallbackRequest request =
              JSON.readValue(exchange.getRequestBody().readAllBytes(), CallbackRequest.class);
          exchange.sendResponseHeaders(200, 0);
          OutputStream out = exchange.getResponseBody();
          if (request.jobs().isEmpty()) {
            // The doctor's.
            out.close();
            return;
          }
          requests(path).add(request);
          try {
            Objects.requireNonNull(answers.get(path)).write(request, out);
            out.close();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
    server.start();
  }

  int port() {
    return server.getAddress().getPort();
  }

  void on(String path, Answer answer) {
    answers.put(path, answer);
  }

  List<CallbackRequest> requests(String path) {
    return requests.computeIfAbsent(path, key -> new CopyOnWriteArrayList<>());
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
