package io.punctual.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.punctual.wire.CallbackRefusal;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.PingAnswer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * A worker instance that decides line by line when to answer, and when to break off. A call of the
 * single protocol is a request with one job; its lines are not sent.
 */
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
  private final Map<String, Refusal> refusals = new ConcurrentHashMap<>();
  private final Set<String> speaking = ConcurrentHashMap.newKeySet();
  private final HttpServer server;

  private record Refusal(int status, @Nullable CallbackRefusal why) {}

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
          if (exchange.getRequestMethod().equals("OPTIONS")) {
            // The single protocol's ping.
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
            return;
          } else if (exchange.getRequestHeaders().containsKey("ce-id")) {
            single(path, exchange);
            return;
          }
          CallbackRequest request =
              JSON.readValue(exchange.getRequestBody().readAllBytes(), CallbackRequest.class);
          Refusal refusal = refusals.get(path);
          if (refusal != null && !(request.jobs().isEmpty() && speaking.contains(path))) {
            CallbackRefusal why = refusal.why();
            if (why != null) {
              exchange.getResponseHeaders().set(CallbackRefusal.HEADER, why.word());
            }
            exchange.sendResponseHeaders(refusal.status(), -1);
            exchange.close();
            return;
          }
          exchange.sendResponseHeaders(200, 0);
          OutputStream out = exchange.getResponseBody();
          if (request.jobs().isEmpty()) {
            // The doctor's.
            if (speaking.contains(path)) {
              out.write((JSON.writeValueAsString(pong(path)) + "\n").getBytes(UTF_8));
            }
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

  /** Takes a call of the single protocol, whose status is the answer: 200 if it is written. */
  private void single(String path, HttpExchange exchange) throws IOException {
    CallbackRequest request = request(exchange);
    requests(path).add(request);
    try (OutputStream unread = OutputStream.nullOutputStream()) {
      Objects.requireNonNull(answers.get(path)).write(request, unread);
      exchange.sendResponseHeaders(200, -1);
      exchange.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static CallbackRequest request(HttpExchange exchange) throws IOException {
    Headers headers = exchange.getRequestHeaders();
    return new CallbackRequest(
        headers.getFirst(CallbackRequest.APPLICATION),
        headers.getFirst("Punctual-Instance"),
        null,
        List.of(
            new CallbackRequest.Job(
                headers.getFirst("ce-id"),
                headers.getFirst("ce-type"),
                headers.getFirst("Punctual-Incarnation"),
                Integer.parseInt(headers.getFirst("ce-attempt")),
                Long.parseLong(headers.getFirst(CallbackRequest.VERSION)),
                Long.parseLong(headers.getFirst(CallbackRequest.CLAIMED_AT)),
                Instant.parse(headers.getFirst("ce-time")).toEpochMilli(),
                null,
                0,
                new String(exchange.getRequestBody().readAllBytes(), UTF_8),
                Map.of(),
                headers.getFirst(CallbackRequest.TOKEN))));
  }

  private static PingAnswer pong(String path) {
    String application = path.substring(path.lastIndexOf('/') + 1);
    return new PingAnswer(application, Instant.now().toEpochMilli(), null, null, null, null);
  }

  /** From now on, pings are answered in full, as the application that the path ends with. */
  void answersPings(String path) {
    speaking.add(path);
  }

  /**
   * From now on, calls are refused, except pings after {@link #answersPings}; without a reason if
   * it is null.
   */
  void refuse(String path, int status, @Nullable CallbackRefusal why) {
    refusals.put(path, new Refusal(status, why));
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
