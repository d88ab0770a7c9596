package io.punctual.server.dispatch;

import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/** One request whose answer can be waited for and given up on from another thread. */
final class HttpExchange {

  private final CompletableFuture<HttpResponse<InputStream>> answer;

  HttpExchange(HttpClient client, HttpRequest request) {
    this.answer = client.sendAsync(request, HttpResponse.BodyHandlers.ofInputStream());
  }

  /**
   * Waits for status and headers.
   *
   * @param avoid how long to leave an instance alone that was not reached
   * @return null when it was given up on
   * @throws NotSentException if no connection was made
   * @throws IOException if the connection broke after it was made
   */
  @Nullable HttpResponse<InputStream> await(Duration avoid) throws IOException {
    try {
      return answer.get();
    } catch (CancellationException e) {
      return null;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while waiting for the answer", e);
    } catch (ExecutionException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      if (notSent(cause)) {
        throw new NotSentException(describe(cause), avoid);
      }
      throw new IOException(describe(cause), cause);
    }
  }

  /** Ends the exchange, whatever state it is in. */
  void abort() {
    answer.cancel(true);
    if (answer.isDone() && !answer.isCompletedExceptionally()) {
      try {
        answer.join().body().close();
      } catch (IOException e) {
        // It is being thrown away anyway.
        return;
      }
    }
  }

  static boolean notSent(Throwable cause) {
    for (Throwable t = cause; t != null; t = t.getCause()) {
      if (t instanceof ConnectException
          || t instanceof HttpConnectTimeoutException
          || t instanceof UnresolvedAddressException
          || t instanceof UnknownHostException
          || t instanceof NoRouteToHostException
          || t instanceof SSLHandshakeException) {
        return true;
      }
    }
    return false;
  }

  static String describe(Throwable cause) {
    if (cause instanceof HttpConnectTimeoutException) {
      return "no connection: timed out";
    }
    if (cause instanceof ConnectException) {
      return "no connection: " + (cause.getMessage() == null ? "refused" : cause.getMessage());
    }
    String message = cause.getMessage();
    return message == null ? cause.getClass().getSimpleName() : message;
  }
}
