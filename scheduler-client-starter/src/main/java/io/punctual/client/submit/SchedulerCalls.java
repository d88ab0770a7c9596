package io.punctual.client.submit;

import io.punctual.SchedulerUnavailableException;
import io.punctual.client.PunctualClientProperties;
import io.punctual.client.SchedulerClientCustomizer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.SslBundle;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Calls a scheduler, and another one where that one does not answer or has no time. Every call may
 * be repeated: jobs are known by their ids.
 */
public final class SchedulerCalls implements AutoCloseable {

  private static final long PAUSE_MS = 100;
  private static final Duration RETRY_AFTER = Duration.ofSeconds(2);

  private final SchedulerLocator locator;
  private final @Nullable String token;
  private final PunctualClientProperties.Submit options;
  private final HttpClient client;
  private final JsonMapper json = JsonMapper.builder().build();
  private final CountDownLatch closed = new CountDownLatch(1);

  /**
   * Calls the schedulers that the locator knows.
   *
   * @param token who we are; null where nobody asks
   * @param tls whom to trust on https, and who we are there; null for what the JVM says
   */
  public SchedulerCalls(
      SchedulerLocator locator,
      PunctualClientProperties.Submit options,
      @Nullable String token,
      @Nullable SslBundle tls) {
    this(locator, options, token, tls, List.of());
  }

  /** The same, by a client that others have a say in, in this order. */
  public SchedulerCalls(
      SchedulerLocator locator,
      PunctualClientProperties.Submit options,
      @Nullable String token,
      @Nullable SslBundle tls,
      List<SchedulerClientCustomizer> customizers) {
    this.locator = locator;
    this.token = token;
    this.options = options;
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(options.connectTimeout());
    if (tls != null) {
      SSLContext context = tls.createSslContext();
      SSLParameters parameters = context.getDefaultSSLParameters();
      if (tls.getOptions().getCiphers() != null) {
        parameters.setCipherSuites(tls.getOptions().getCiphers());
      }
      if (tls.getOptions().getEnabledProtocols() != null) {
        parameters.setProtocols(tls.getOptions().getEnabledProtocols());
      }
      builder.sslContext(context).sslParameters(parameters);
    }
    customizers.forEach(customizer -> customizer.customize(builder));
    this.client = builder.build();
  }

  /** What a scheduler said. */
  public record Answer(int status, JsonNode body) {

    /** A member that is a text; empty if there is none. */
    public String text(String field) {
      JsonNode value = body.get(field);
      return value == null || !value.isString() ? "" : value.stringValue();
    }
  }

  /**
   * Makes a call.
   *
   * @param body to be sent as JSON; null for none
   * @throws SchedulerUnavailableException if no scheduler had an answer
   */
  public Answer call(String method, String path, @Nullable Object body) {
    return call(method, path, body, options.readTimeout());
  }

  /** The schedulers that would be called now. */
  public List<URI> schedulers() {
    return locator.schedulers();
  }

  /** As {@link #call(String, String, Object)}, for an answer that may take that long. */
  public Answer call(String method, String path, @Nullable Object body, Duration answerWithin) {
    byte[] bytes = body == null ? new byte[0] : json.writeValueAsBytes(body);
    Exception last = new IOException("no scheduler is known; is one registered?");
    Duration retryAfter = RETRY_AFTER;
    int calls = 0;
    for (int round = 0; calls < options.attempts(); round++) {
      pause(round);
      List<URI> schedulers = locator.schedulers();
      if (schedulers.isEmpty()) {
        calls++;
      }
      for (URI scheduler : schedulers) {
        if (calls++ >= options.attempts()) {
          break;
        }
        try {
          HttpResponse<byte[]> response =
              client.send(
                  request(scheduler, method, path, bytes, answerWithin),
                  HttpResponse.BodyHandlers.ofByteArray());
          if (response.statusCode() < 500 && response.statusCode() != 429) {
            locator.answered(scheduler);
            return new Answer(response.statusCode(), parse(response.body()));
          }
          retryAfter = retryAfter(response, retryAfter);
          String error = "HTTP " + response.statusCode();
          last = new IOException(scheduler + " answered " + error);
          locator.failed(scheduler, error);
        } catch (IOException e) {
          last = new IOException(scheduler + ": " + e, e);
          locator.failed(scheduler, e.toString());
        } catch (InterruptedException e) {
          throw interrupted(e);
        }
      }
    }
    throw unavailable(
        "No scheduler took the call after " + options.attempts() + " tries; " + last.getMessage(),
        retryAfter,
        last);
  }

  /** For a caller that was interrupted while it waited; it stays interrupted. */
  static SchedulerUnavailableException interrupted(InterruptedException e) {
    Thread.currentThread().interrupt();
    return unavailable("interrupted while waiting for a scheduler", RETRY_AFTER, e);
  }

  private static SchedulerUnavailableException unavailable(
      String message, Duration retryAfter, Exception cause) {
    return new SchedulerUnavailableException(
        message + ". Whether it took effect is not known; repeat it with the same task id.",
        retryAfter,
        cause);
  }

  private void pause(int round) {
    if (round > 0) {
      try {
        // In the caller's thread, which waits for the answer anyway; longer each round, so that a
        // scheduler that restarts gets its time.
        if (closed.await(PAUSE_MS << Math.min(round - 1, 5), TimeUnit.MILLISECONDS)) {
          throw unavailable(
              "the application ends", RETRY_AFTER, new CancellationException("closed"));
        }
      } catch (InterruptedException e) {
        throw interrupted(e);
      }
    }
  }

  private HttpRequest request(
      URI scheduler, String method, String path, byte[] body, Duration answerWithin) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(scheduler + path)).timeout(answerWithin);
    if (token != null) {
      request.header("Authorization", "Bearer " + token);
    }
    return body.length == 0
        ? request.method(method, HttpRequest.BodyPublishers.noBody()).build()
        : request
            .header("Content-Type", "application/json")
            // What was sent need not come back (RFC 7240).
            .header("Prefer", "return=minimal")
            .method(method, HttpRequest.BodyPublishers.ofByteArray(body))
            .build();
  }

  private static Duration retryAfter(HttpResponse<byte[]> response, Duration otherwise) {
    String seconds = response.headers().firstValue("Retry-After").orElse("");
    return seconds.matches("\\d{1,5}") ? Duration.ofSeconds(Long.parseLong(seconds)) : otherwise;
  }

  private JsonNode parse(byte[] body) {
    try {
      return json.readTree(body);
    } catch (JacksonException e) {
      return json.createObjectNode();
    }
  }

  /** Lets nobody wait for a scheduler any more: who would try again is told so at once. */
  @Override
  public void close() {
    closed.countDown();
  }
}
