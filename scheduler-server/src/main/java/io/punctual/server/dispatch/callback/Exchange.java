package io.punctual.server.dispatch.callback;

import java.io.IOException;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import javax.net.ssl.SSLHandshakeException;
import org.apache.hc.client5.http.classic.methods.HttpUriRequestBase;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.protocol.HttpClientContext;
import org.apache.hc.core5.http.HttpConnection;
import org.apache.hc.core5.http.io.HttpClientConnection;
import org.apache.hc.core5.http.protocol.HttpContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One request to a worker, which another thread can give up. */
final class Exchange {

  /** How long an address that must not be called is avoided. */
  private static final Duration FORBIDDEN = Duration.ofSeconds(30);

  private static final Logger log = LoggerFactory.getLogger(Exchange.class);

  private static final String ATTRIBUTE = Exchange.class.getName();

  private final CloseableHttpClient client;
  private final HttpUriRequestBase request;
  private final BooleanSupplier maySend;
  private boolean sent;
  private volatile boolean aborted;

  Exchange(CloseableHttpClient client, HttpUriRequestBase request, BooleanSupplier maySend) {
    this.client = client;
    this.request = request;
    this.maySend = maySend;
  }

  static Exchange of(HttpContext context) {
    return (Exchange) context.getAttribute(ATTRIBUTE);
  }

  /** No byte of the request has left: the connection was closed, or is not clean. */
  private static final class StaleConnectionException extends IOException {
    private static final long serialVersionUID = 1L;
  }

  /** No byte of the request has left, and none will. */
  private static final class HeldBackException extends IOException {
    private static final long serialVersionUID = 1L;
  }

  /** Called with the connection, before a byte of the request leaves. */
  void beforeSending(HttpConnection connection) throws IOException {
    if (connection instanceof HttpClientConnection open && open.isStale()) {
      throw new StaleConnectionException();
    } else if (!maySend.getAsBoolean()) {
      throw new HeldBackException();
    }
    sent = true;
  }

  /**
   * Sends the request and waits for the head of the answer.
   *
   * @param avoid how long to send an instance no jobs that is not reached
   * @return null if the call was given up meanwhile
   * @throws NotSentException if no byte of the request left
   * @throws IOException if it left, and no head came back
   */
  @Nullable Answer send(Duration avoid) throws IOException {
    while (true) {
      try {
        HttpClientContext context = HttpClientContext.create();
        context.setAttribute(ATTRIBUTE, this);
        return new Answer(client.executeOpen(null, request, context));
      } catch (StaleConnectionException e) {
        // The pool gives the next one; a new one is never stale.
        log.trace("A connection of the pool was closed or not clean; another one is used", e);
      } catch (HeldBackException e) {
        throw NotSentException.byLease();
      } catch (IOException | RuntimeException e) {
        if (aborted) {
          return null;
        } else if (!wasSent(e)) {
          throw notSent(e, avoid);
        }
        throw e;
      }
    }
  }

  /** Whether a byte of the request left, given how it ended. */
  boolean wasSent(Throwable thrown) {
    return sent && !isHandshake(thrown);
  }

  // With TLS 1.3 a worker refuses a certificate when the request has left already, and reads
  // nothing of it.
  private static boolean isHandshake(Throwable thrown) {
    for (Throwable t = thrown; t != null; t = t.getCause()) {
      if (t instanceof SSLHandshakeException) {
        return true;
      }
    }
    return false;
  }

  private static NotSentException notSent(Throwable thrown, Duration avoid) {
    CallFailure failure = CallFailure.of(thrown, false);
    return switch (failure) {
      case ADDRESS_NOT_ALLOWED ->
          NotSentException.byInstance(notAllowed(thrown), FORBIDDEN, thrown);
      case TLS ->
          NotSentException.byInstance(failure.text() + ": " + tlsReason(thrown), avoid, thrown);
      default -> NotSentException.byInstance(failure.text(), avoid, thrown);
    };
  }

  private static String notAllowed(Throwable thrown) {
    for (Throwable t = thrown; t != null; t = t.getCause()) {
      if (t instanceof AddressNotAllowedException refused) {
        return refused.reason();
      }
    }
    return CallFailure.ADDRESS_NOT_ALLOWED.text();
  }

  private static String tlsReason(Throwable thrown) {
    String message = thrown.getMessage();
    return message == null ? thrown.getClass().getSimpleName() : message;
  }

  /** Gives the call up, whatever state it is in. */
  void abort() {
    aborted = true;
    request.abort();
  }
}
