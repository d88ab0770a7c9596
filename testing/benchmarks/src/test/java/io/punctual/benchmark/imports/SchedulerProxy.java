package io.punctual.benchmark.imports;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;

/** Stands before a scheduler, and does something behind a call that the command makes. */
final class SchedulerProxy implements AutoCloseable {

  private static final List<String> PASSED = List.of("Content-Type", "If-Match", "If-None-Match");

  private final HttpClient http = HttpClient.newHttpClient();
  private final HttpServer server;
  private final String scheduler;
  private final String call;
  private final Action action;

  /** What happens before the command gets the answer. */
  interface Action {
    void run() throws Exception;
  }

  /**
   * @param call method and path behind which the action runs each time
   */
  SchedulerProxy(String scheduler, String call, Action action) throws IOException {
    this.scheduler = scheduler;
    this.call = call;
    this.action = action;
    this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    var unused = server.createContext("/", this::pass);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  private void pass(HttpExchange exchange) throws IOException {
    try (exchange) {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(URI.create(scheduler + exchange.getRequestURI()))
              .method(
                  exchange.getRequestMethod(),
                  HttpRequest.BodyPublishers.ofByteArray(exchange.getRequestBody().readAllBytes()));
      for (String header : PASSED) {
        String value = exchange.getRequestHeaders().getFirst(header);
        if (value != null) {
          request.header(header, value);
        }
      }
      HttpResponse<byte[]> answer =
          http.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
      if (call.equals(exchange.getRequestMethod() + " " + exchange.getRequestURI().getPath())) {
        action.run();
      }
      answer
          .headers()
          .firstValue("ETag")
          .ifPresent(tag -> exchange.getResponseHeaders().set("ETag", tag));
      exchange.sendResponseHeaders(
          answer.statusCode(), answer.body().length == 0 ? -1 : answer.body().length);
      exchange.getResponseBody().write(answer.body());
    } catch (Exception e) {
      throw new IOException(e);
    }
  }

  @Override
  public void close() {
    server.stop(0);
    http.close();
  }
}
