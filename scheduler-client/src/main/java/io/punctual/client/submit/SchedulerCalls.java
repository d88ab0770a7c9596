package io.punctual.client.submit;

import io.punctual.SchedulerUnavailableException;
import io.punctual.client.json.Json;
import io.punctual.client.json.JsonException;
import io.punctual.client.json.JsonObject;
import io.punctual.internal.ConfiguredUrl;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls a scheduler, and another one where that one does not answer or has no time. Every call may
 * be repeated: jobs are known by their ids. Every wait ends, also one for the rest of a body.
 */
public final class SchedulerCalls implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(SchedulerCalls.class);
  private static final long PAUSE_MS = 100;
  // Of the time of a call: what one scheduler may take, and a connection to it.
  private static final int TRIES = 2;
  private static final int CONNECTIONS = 10;
  private static final int MAX_DETAIL = 200;

  private final SchedulerLocator locator;
  private final @Nullable String token;
  private final Json json;
  private final Duration timeout;
  private final HttpClient client;
  private final CountDownLatch closed = new CountDownLatch(1);

  /**
   * Calls the schedulers that the locator knows.
   *
   * @param json reads and writes the bodies
   * @param timeout how long a call may take in all, until the last byte of the answer: with tries
   *     at other schedulers, pauses between them, and requests of other threads that it waits for
   * @param token who we are; null where nobody asks
   * @param customizer sets what the HTTP client needs: TLS, a proxy
   */
  public SchedulerCalls(
      SchedulerLocator locator,
      Json json,
      Duration timeout,
      @Nullable String token,
      Consumer<HttpClient.Builder> customizer) {
    this.locator = locator;
    this.json = json;
    this.timeout = timeout;
    this.token = token;
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(timeout.dividedBy(CONNECTIONS));
    customizer.accept(builder);
    this.client = builder.build();
  }

  /**
   * What a scheduler said.
   *
   * @param durability where a change was when it was answered; empty if nothing was changed
   */
  public record Answer(int status, JsonObject body, String durability) {

    /** A member that is a text; empty if there is none. */
    public String text(String field) {
      return body.text(field, "");
    }
  }

  /**
   * Makes a call, within the time-out.
   *
   * @param body to be sent as JSON; null for none
   * @throws SchedulerUnavailableException if no scheduler had an answer in that time
   */
  public Answer call(String method, String path, @Nullable Object body) {
    return call(method, path, body, deadline());
  }

  /**
   * Makes a call whose answer may take longer, as when a scheduler waits for something.
   *
   * @param answerWithin how long one scheduler may take for its whole answer
   * @throws SchedulerUnavailableException if no scheduler had an answer in that time
   */
  public Answer call(String method, String path, @Nullable Object body, Duration answerWithin) {
    Duration all = answerWithin.compareTo(timeout) > 0 ? answerWithin : timeout;
    return call(method, path, body, answerWithin, all, System.nanoTime() + all.toNanos());
  }

  /**
   * Makes a call within the given time, whatever the time-out of this object is.
   *
   * @param within how long the call may take, with pauses and tries at other schedulers; one
   *     scheduler may take half of it
   * @param method the HTTP method
   * @param path the path and query, below the scheduler's base URL
   * @param body sent as JSON; null for none
   * @throws SchedulerUnavailableException if no scheduler answers in that time
   */
  public Answer callWithin(Duration within, String method, String path, @Nullable Object body) {
    return call(
        method, path, body, within.dividedBy(TRIES), within, System.nanoTime() + within.toNanos());
  }

  /**
   * Makes a call at each scheduler that is known now, for what only one of them can do. Those that
   * do not answer are left out.
   *
   * @param within how long all of them together may take
   */
  public void callEach(String path, Object body, Duration within) {
    byte[] bytes = json.write(body);
    List<CompletableFuture<HttpResponse<byte[]>>> answers =
        schedulers(new Tries(locator.source(), /* changes= */ true)).stream()
            .filter(scheduler -> ConfiguredUrl.uncallable(scheduler) == null)
            .map(
                scheduler ->
                    client.sendAsync(
                        request(scheduler, "POST", path, bytes, within),
                        HttpResponse.BodyHandlers.ofByteArray()))
            .toList();
    try {
      var unused =
          CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
              .handle((done, error) -> null)
              .get(within.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      log.debug("Not all schedulers answered {}: {}", path, e.toString());
    } finally {
      answers.forEach(answer -> answer.cancel(true));
    }
  }

  /** Returns until when a call that begins now may take, by {@link System#nanoTime}. */
  long deadline() {
    return System.nanoTime() + timeout.toNanos();
  }

  /** As {@link #call(String, String, Object)}, until then. */
  Answer call(String method, String path, @Nullable Object body, long deadline) {
    Duration all = timeout;
    return call(method, path, body, all.dividedBy(TRIES), all, deadline);
  }

  /**
   * Returns the schedulers that would be called now.
   *
   * @throws RuntimeException whatever the client of a registry throws
   */
  public List<URI> schedulers() {
    return locator.schedulers();
  }

  /** Returns the schedulers that would be called now, in words. */
  public String shownSchedulers() {
    return locator.shown();
  }

  private Answer call(
      String method,
      String path,
      @Nullable Object body,
      Duration answerWithin,
      Duration all,
      long deadline) {
    byte[] bytes = body == null ? new byte[0] : json.write(body);
    Tries tries = new Tries(locator.source(), !method.equals("GET"));
    int round = 0;
    do {
      for (URI scheduler : schedulers(tries)) {
        long left = deadline - System.nanoTime();
        if (left <= 0) {
          break;
        }
        Duration within = left < answerWithin.toNanos() ? Duration.ofNanos(left) : answerWithin;
        String flaw = ConfiguredUrl.uncallable(scheduler);
        if (flaw != null) {
          // The error of the HTTP client would contain the whole address, with its password.
          locator.failed(scheduler, tries.failed(scheduler, new ConnectException(flaw), within));
          continue;
        }
        HttpResponse<byte[]> response =
            response(scheduler, request(scheduler, method, path, bytes, within), within, tries);
        if (response == null) {
          continue;
        }
        JsonObject answer = parse(response.body());
        if (response.statusCode() < 500 && response.statusCode() != 429) {
          locator.answered(scheduler);
          return new Answer(
              response.statusCode(),
              answer,
              response.headers().firstValue("Punctual-Durability").orElse(""));
        }
        tries.busy(scheduler, response.statusCode(), detail(answer), retryAfter(response));
        locator.failed(scheduler, "HTTP " + response.statusCode());
      }
    } while (pause(round++, all, deadline, tries));
    throw tries.unavailable();
  }

  private List<URI> schedulers(Tries tries) {
    try {
      List<URI> schedulers = locator.schedulers();
      tries.read();
      return schedulers;
    } catch (RuntimeException e) {
      tries.unread(e);
      return List.of();
    }
  }

  /** Returns the whole answer of one scheduler; null where there is none in time. */
  private @Nullable HttpResponse<byte[]> response(
      URI scheduler, HttpRequest request, Duration within, Tries tries) {
    try {
      // Asynchronous calls would be a tenth slower: each passes two more threads.
      return client.send(request, TimedBody.until(System.nanoTime() + within.toNanos()));
    } catch (IOException e) {
      locator.failed(scheduler, tries.failed(scheduler, e, within));
      return null;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      tries.interrupted();
      throw tries.stopped("Interrupted while waiting for a scheduler", e);
    }
  }

  /** Waits before the next round; false if there is no time for one. */
  private boolean pause(int round, Duration all, long deadline, Tries tries) {
    // In the caller's thread, which waits for the answer anyway; longer each round, so that a
    // scheduler that restarts gets its time.
    long pause = TimeUnit.MILLISECONDS.toNanos(PAUSE_MS << Math.min(round, 5));
    // A try without the time for an answer would only make it uncertain what became of the call.
    if (deadline - System.nanoTime() - pause < all.toNanos() / 4) {
      return false;
    }
    try {
      if (closed.await(pause, TimeUnit.NANOSECONDS)) {
        throw tries.stopped("The application ends", new CancellationException("closed"));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw tries.stopped("Interrupted while waiting for a scheduler", e);
    }
    return true;
  }

  private HttpRequest request(
      URI scheduler, String method, String path, byte[] body, Duration within) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(scheduler + path)).timeout(within);
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

  private static @Nullable Duration retryAfter(HttpResponse<byte[]> response) {
    String seconds = response.headers().firstValue("Retry-After").orElse("");
    return seconds.matches("\\d{1,5}") ? Duration.ofSeconds(Long.parseLong(seconds)) : null;
  }

  private static String detail(JsonObject problem) {
    String detail = problem.text("detail", "");
    return detail.length() > MAX_DETAIL ? detail.substring(0, MAX_DETAIL) + "..." : detail;
  }

  private JsonObject parse(byte[] body) {
    try {
      return JsonObject.of(body.length == 0 ? null : json.read(body, Object.class));
    } catch (JsonException e) {
      return JsonObject.of(null);
    }
  }

  /** Ends all waiting for another try: such a call fails at once. */
  @Override
  public void close() {
    closed.countDown();
  }
}
