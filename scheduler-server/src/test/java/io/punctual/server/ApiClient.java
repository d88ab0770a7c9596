package io.punctual.server;

import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Talks to the API as any program would: nothing of the server's own code is in between. */
public final class ApiClient implements AutoCloseable {

  private static final JsonMapper JSON = new JsonMapper();

  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(20))
          .build();
  private final URI base;

  ApiClient(int port) {
    base = URI.create("http://localhost:" + port);
  }

  /** An answer; the body is a missing node where there is none, or none that is JSON. */
  public record Answer(int status, HttpHeaders headers, String text, JsonNode body) {

    static Answer of(int status, HttpHeaders headers, String text) {
      boolean json = headers.firstValue("Content-Type").orElse("").contains("json");
      return new Answer(status, headers, text, json ? JSON.readTree(text) : JSON.missingNode());
    }

    String header(String name) {
      return headers.firstValue(name).orElse("");
    }

    String contentType() {
      return header("Content-Type");
    }

    public String at(String pointer) {
      return body.at(pointer).asString("");
    }
  }

  public Answer get(String path) {
    return send(path, request -> request.GET());
  }

  Answer delete(String path) {
    return send(path, request -> request.DELETE());
  }

  public Answer post(String path, String body) {
    return call("POST", path, "application/json", BodyPublishers.ofString(body));
  }

  Answer patch(String path, String body) {
    return call("PATCH", path, "application/json", BodyPublishers.ofString(body));
  }

  Answer call(String method, String path, String contentType, BodyPublisher body) {
    return send(path, request -> request.header("Content-Type", contentType).method(method, body));
  }

  /** With an {@code Authorization} header, unless that is empty. */
  public Answer call(String method, String path, String json, String authorization) {
    return send(
        path,
        request -> {
          if (!authorization.isEmpty()) {
            request.header("Authorization", authorization);
          }
          return request
              .header("Content-Type", "application/json")
              .method(
                  method, json.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(json));
        });
  }

  Answer send(String path, UnaryOperator<HttpRequest.Builder> details) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(base.resolve(path)).timeout(Duration.ofSeconds(20));
    try {
      HttpRequest whole = details.apply(request).build();
      HttpResponse<String> response = http.send(whole, BodyHandlers.ofString());
      Answer answer = Answer.of(response.statusCode(), response.headers(), response.body());
      Contract.check(whole.method(), whole.uri().getRawPath(), answer);
      if (answer.status() < 400) {
        Contract.checkQuery(whole.method(), whole.uri());
      }
      return answer;
    } catch (IOException e) {
      throw new AssertionError("no answer to a request of " + path, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    }
  }

  /** Sends what no client library would; the request must say that it is the last one. */
  static Answer raw(int port, String request) {
    try (Socket socket = new Socket("localhost", port)) {
      socket.setSoTimeout(20_000);
      socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
      String all = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      String[] parts = all.split("\r\n\r\n", 2);
      List<String> head = parts[0].lines().toList();
      Map<String, List<String>> headers = new HashMap<>();
      for (String line : head.subList(1, head.size())) {
        String[] header = line.split(": *", 2);
        headers.computeIfAbsent(header[0], name -> new ArrayList<>()).add(header[1]);
      }
      boolean chunked = parts[0].toLowerCase(Locale.ROOT).contains("transfer-encoding: chunked");
      String text = chunked ? parts[1].substring(parts[1].indexOf("\r\n") + 2) : parts[1];
      return Answer.of(
          Integer.parseInt(head.get(0).split(" ", -1)[1]),
          HttpHeaders.of(headers, (name, value) -> true),
          chunked ? text.substring(0, text.indexOf("\r\n")) : text);
    } catch (IOException e) {
      throw new AssertionError("no answer to " + request, e);
    }
  }

  @Override
  public void close() {
    http.close();
  }
}
