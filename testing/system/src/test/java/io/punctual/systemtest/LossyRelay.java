package io.punctual.systemtest;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Stands before a scheduler and passes commands on. Of the first two commands of one kind the
 * scheduler hears, but the answers are lost: the caller gets a 503, and then half of an answer.
 */
final class LossyRelay implements AutoCloseable {

  private final String to;
  private final String loses;
  private final AtomicInteger lost = new AtomicInteger();
  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  LossyRelay(String to, String loses) throws IOException {
    this.to = to;
    this.loses = "\"" + loses + "\"";
    this.server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
    server.setExecutor(threads);
    server.createContext("/", this::pass);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  private void pass(HttpExchange exchange) throws IOException {
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(to + exchange.getRequestURI()))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    HttpResponse<String> answer;
    try {
      answer = Http.CLIENT.send(request, HttpResponse.BodyHandlers.ofString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
    int loss = body.contains(loses) ? lost.incrementAndGet() : 0;
    byte[] bytes = answer.body().getBytes(StandardCharsets.UTF_8);
    if (loss == 1) {
      exchange.sendResponseHeaders(503, -1);
    } else {
      exchange.sendResponseHeaders(answer.statusCode(), bytes.length);
      exchange.getResponseBody().write(bytes, 0, loss == 2 ? bytes.length / 2 : bytes.length);
      exchange.getResponseBody().flush();
    }
    exchange.close();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
