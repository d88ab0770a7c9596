package io.punctual.systemtest;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Plain HTTP, as any program would speak it. */
public final class Http {

  // No peer is remote; but this JVM may have to wait for a processor.
  private static final Duration PATIENCE = Duration.ofSeconds(15);

  static final HttpClient CLIENT =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(PATIENCE).build();
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private Http() {}

  /** An answer. */
  public record Answer(int status, String body) {

    /** The body as JSON. */
    public JsonNode json() {
      return JSON.readTree(body);
    }
  }

  /** A client on whose requests the context says whom to trust, and who we are. */
  public static HttpClient client(SSLContext context) {
    return HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1)
        .connectTimeout(PATIENCE)
        .sslContext(context)
        .build();
  }

  /** GET. */
  public static Answer get(String url) throws IOException {
    return get(CLIENT, url);
  }

  /** GET by that client. */
  public static Answer get(HttpClient client, String url) throws IOException {
    return send(client, request(url).GET().build());
  }

  /** GET of what is no JSON. */
  public static Answer getText(String url) throws IOException {
    return send(CLIENT, request(url).setHeader("Accept", "text/plain").GET().build());
  }

  /**
   * GET of what is no JSON, as by a page that has it already.
   *
   * @param tag of what it has, empty for nothing; becomes that of the answer
   * @return the status; 304 if it is the same
   */
  public static int getUnless(String url, AtomicReference<String> tag) throws IOException {
    HttpRequest.Builder request = request(url).setHeader("Accept", "text/plain");
    if (!tag.get().isEmpty()) {
      request.header("If-None-Match", tag.get());
    }
    try {
      HttpResponse<String> response =
          CLIENT.send(request.GET().build(), HttpResponse.BodyHandlers.ofString());
      tag.set(response.headers().firstValue("ETag").orElse(""));
      return response.statusCode();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }

  /** POST of JSON. */
  public static Answer post(String url, String json) throws IOException {
    return post(CLIENT, url, json);
  }

  /** Posts JSON and waits up to the timeout for the answer. */
  public static Answer post(String url, String json, Duration timeout) throws IOException {
    return send(
        CLIENT,
        request(url)
            .timeout(timeout)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(json))
            .build());
  }

  /** POST of JSON by that client. */
  public static Answer post(HttpClient client, String url, String json) throws IOException {
    return send(
        client,
        request(url)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(json))
            .build());
  }

  /** PUT of JSON. */
  public static Answer put(String url, String json) throws IOException {
    return send(
        CLIENT,
        request(url)
            .header("Content-Type", "application/json")
            .PUT(HttpRequest.BodyPublishers.ofString(json))
            .build());
  }

  /** PATCH of JSON. */
  public static Answer patch(String url, String json) throws IOException {
    return send(
        CLIENT,
        request(url)
            .header("Content-Type", "application/json")
            .method("PATCH", HttpRequest.BodyPublishers.ofString(json))
            .build());
  }

  /** DELETE. */
  public static Answer delete(String url) throws IOException {
    return send(CLIENT, request(url).DELETE().build());
  }

  private static HttpRequest.Builder request(String url) {
    return HttpRequest.newBuilder(URI.create(url))
        .header("Accept", "application/json")
        .timeout(Duration.ofSeconds(10));
  }

  private static Answer send(HttpClient client, HttpRequest request) throws IOException {
    try {
      HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
      return new Answer(response.statusCode(), response.body());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }
}
