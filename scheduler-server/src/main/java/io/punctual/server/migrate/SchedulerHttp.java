package io.punctual.server.migrate;

import io.punctual.server.text.Printable;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Calls a scheduler over HTTP, as any program does. */
final class SchedulerHttp {

  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final JsonMapper JSON = new JsonMapper();

  private final HttpClient http;
  private final String base;
  private final String token;
  private final Duration patience;

  /**
   * @param scheduler its base URL
   * @param token of the application; empty for none
   */
  SchedulerHttp(URI scheduler, String token) {
    this(scheduler, token, PATIENCE);
  }

  /**
   * @param patience how long an answer may take; less than {@link OldStore#hold} lasts
   */
  SchedulerHttp(URI scheduler, String token, Duration patience) {
    this.patience = patience;
    this.http = HttpClient.newBuilder().connectTimeout(patience).build();
    this.base = scheduler.toString().replaceFirst("/+$", "") + "/api/v1";
    this.token = token;
  }

  /**
   * What a scheduler answered.
   *
   * @param tag the entity tag; empty if there is none
   */
  record Answer(URI from, int status, String body, String tag) {

    /** Returns the status and the body on one line. */
    String said() {
      return "HTTP " + status + ": " + Printable.of(body);
    }

    /** Returns whether the same call may succeed later. */
    boolean isLater() {
      return status == 429 || status == 503;
    }

    /** Returns the body. */
    JsonNode json() throws UnavailableException {
      try {
        return JSON.readTree(body);
      } catch (JacksonException e) {
        throw new UnavailableException(isNone());
      }
    }

    /** Returns that no scheduler answers like this. */
    String isNone() {
      return from + " is no scheduler: it answered " + Printable.of(body);
    }
  }

  /**
   * Calls.
   *
   * @param body null for none
   * @param headers names and values
   */
  Answer call(String method, String path, @Nullable Object body, String... headers)
      throws UnavailableException, InterruptedException {
    URI target = URI.create(base + path);
    HttpRequest.Builder request =
        HttpRequest.newBuilder(target)
            .method(
                method,
                body == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body)));
    if (body != null) {
      request.header("Content-Type", "application/json");
    }
    if (headers.length > 0) {
      request.headers(headers);
    }
    if (!token.isEmpty()) {
      request.header("Authorization", "Bearer " + token);
    }
    // The time limit of a request ends with the head of the answer.
    CompletableFuture<HttpResponse<String>> call =
        http.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString());
    try {
      HttpResponse<String> answer = call.get(patience.toMillis(), TimeUnit.MILLISECONDS);
      return new Answer(
          target,
          answer.statusCode(),
          answer.body(),
          answer.headers().firstValue("ETag").orElse(""));
    } catch (TimeoutException e) {
      call.cancel(true);
      throw new UnavailableException(
          "%s did not answer within %d s".formatted(target, patience.toSeconds()));
    } catch (ExecutionException e) {
      throw new UnavailableException(target + " did not answer: " + e.getCause());
    }
  }
}
