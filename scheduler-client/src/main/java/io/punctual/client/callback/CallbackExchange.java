package io.punctual.client.callback;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A scheduler's request and its answer, as a web server has them. An adapter for a web server
 * implements this; {@link HttpServerCallback} is the one for the JDK's own.
 */
public interface CallbackExchange {

  /** Returns the HTTP method. */
  String method();

  /** Returns the first header of that name, in whatever case; null if there is none. */
  @Nullable String header(String name);

  /** Returns the IP address of the caller. */
  String remoteAddress();

  /** Returns the host that the caller asked for, without a port; an IPv6 address in brackets. */
  String serverName();

  /**
   * Returns whether the request came through a proxy, where the web server has removed the headers
   * that say so.
   */
  default boolean forwarded() {
    return false;
  }

  /** Returns the body of the request. */
  InputStream body() throws IOException;

  /**
   * Begins the answer. Called once.
   *
   * @return takes its body; flushing it sends what was written so far
   */
  OutputStream answer(int status, Map<String, String> headers) throws IOException;

  /**
   * Keeps the answer open when the handler has returned, without a time limit. Called after {@link
   * #answer}, at most once; without it the answer ends when the handler returns.
   *
   * @param broken to be run when the server sees that the caller is gone, if it ever does
   * @return ends the answer; harmless where it has ended
   */
  Runnable hold(Runnable broken);

  /**
   * Says what to do with the rest of the request once its answer was sent. A server that takes care
   * of such bodies itself ignores it.
   *
   * @param rest reads the rest, and returns whether all of it came: if not, the connection ends
   */
  default void afterAnswer(BooleanSupplier rest) {}
}
