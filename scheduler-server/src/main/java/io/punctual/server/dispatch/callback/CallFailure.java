package io.punctual.server.dispatch.callback;

import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.apache.hc.core5.http.HttpException;
import org.apache.hc.core5.http.MalformedChunkCodingException;
import org.apache.hc.core5.http.MessageConstraintException;
import org.apache.hc.core5.http.TruncatedChunkException;
import org.jspecify.annotations.Nullable;

/** Why a call has no answer. */
public enum CallFailure {
  /** The host has no address. */
  UNKNOWN_HOST("no connection: the host has no address"),
  /** The host has an address that is not called. */
  ADDRESS_NOT_ALLOWED("no connection: the address is not allowed"),
  /** No connection in time. */
  TIMED_OUT("no connection: timed out"),
  /** No program listens at the port. */
  REFUSED("no connection: refused"),
  /** No network leads to the address. */
  NO_ROUTE("no connection: no route to the host"),
  /** No TLS on the connection. */
  TLS("no TLS connection"),
  /** A connection, and no answer in time. */
  NO_ANSWER("no answer in time"),
  /** The answer is not HTTP/1.1. */
  NOT_HTTP("the answer is not HTTP"),
  /** The connection ended before the answer did. */
  BROKE("the connection broke");

  private final String text;

  CallFailure(String text) {
    this.text = text;
  }

  /** What happened, in our own words: what a stranger sent is not quoted. */
  public String text() {
    return text;
  }

  /**
   * Tells what an exception means.
   *
   * @param sent whether a byte of the request had left
   */
  static CallFailure of(Throwable thrown, boolean sent) {
    for (Throwable t = thrown; t != null; t = t.getCause()) {
      CallFailure known = ofOne(t, sent);
      if (known != null) {
        return known;
      }
    }
    return BROKE;
  }

  private static @Nullable CallFailure ofOne(Throwable t, boolean sent) {
    if (t instanceof AddressNotAllowedException) {
      return ADDRESS_NOT_ALLOWED;
    } else if (t instanceof UnknownHostException) {
      return UNKNOWN_HOST;
    } else if (t instanceof SSLException) {
      return sent && !(t instanceof SSLHandshakeException) ? null : TLS;
    } else if (isNoHttp(t)) {
      return NOT_HTTP;
    } else if (sent) {
      return null;
    } else if (t instanceof SocketTimeoutException) {
      return TIMED_OUT;
    } else if (t instanceof NoRouteToHostException || saysUnreachable(t)) {
      return NO_ROUTE;
    }
    return t instanceof ConnectException ? REFUSED : null;
  }

  private static boolean isNoHttp(Throwable t) {
    return t instanceof HttpException
        || t instanceof MessageConstraintException
        || (t instanceof MalformedChunkCodingException && !(t instanceof TruncatedChunkException));
  }

  private static boolean saysUnreachable(Throwable t) {
    String message = t.getMessage();
    return t instanceof IOException && message != null && message.contains("unreachable");
  }
}
