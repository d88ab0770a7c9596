package io.punctual.client.callback;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes callbacks with the JDK's own HTTP server. Give the server an executor of several threads:
 * each reads one request at a time. Answers take none while jobs run. The server waits for a silent
 * caller forever unless the system property {@code sun.net.httpserver.maxReqTime} (in seconds) is
 * set.
 */
public final class HttpServerCallback implements HttpHandler {

  private final CallbackHandler handler;

  public HttpServerCallback(CallbackHandler handler) {
    this.handler = handler;
  }

  @Override
  public void handle(HttpExchange exchange) throws IOException {
    Call call = new Call(exchange);
    try {
      handler.handle(call);
    } catch (IOException | RuntimeException | Error e) {
      exchange.close();
      throw e;
    }
    if (call.held) {
      return;
    }
    if (!call.rest.getAsBoolean()) {
      // Not close(), which would read up to 64 KiB more, however long that takes. The exception
      // makes the server close the connection.
      exchange.getResponseBody().flush();
      throw new IOException("the rest of the request was not read");
    }
    exchange.close();
  }

  private static final class Call implements CallbackExchange {

    private final HttpExchange exchange;
    private boolean held;
    private BooleanSupplier rest = () -> true;

    Call(HttpExchange exchange) {
      this.exchange = exchange;
    }

    @Override
    public String method() {
      return exchange.getRequestMethod();
    }

    @Override
    public @Nullable String header(String name) {
      return exchange.getRequestHeaders().getFirst(name);
    }

    @Override
    public String remoteAddress() {
      return exchange.getRemoteAddress().getAddress().getHostAddress();
    }

    @Override
    public String serverName() {
      String host = header("Host");
      return host == null ? "" : host.replaceFirst(":\\d*$", "");
    }

    @Override
    public InputStream body() {
      return exchange.getRequestBody();
    }

    @Override
    public OutputStream answer(int status, Map<String, String> headers) throws IOException {
      headers.forEach(exchange.getResponseHeaders()::set);
      exchange.sendResponseHeaders(status, 0);
      return exchange.getResponseBody();
    }

    @Override
    public Runnable hold(Runnable broken) {
      held = true;
      return exchange::close;
    }

    @Override
    public void afterAnswer(BooleanSupplier rest) {
      this.rest = rest;
    }
  }
}
