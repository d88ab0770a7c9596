package io.punctual.spring.client.servlet;

import io.punctual.client.callback.CallbackExchange;
import io.punctual.client.callback.CallbackHandler;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.web.HttpRequestHandler;

/**
 * Takes callbacks as a servlet container has them. A plain handler, no controller: what an
 * application does to the answers of its controllers (wrapping, versioning, interceptors) does not
 * touch it.
 */
public final class ServletCallback implements HttpRequestHandler {

  private static final Logger log = LoggerFactory.getLogger(ServletCallback.class);

  private final CallbackHandler handler;

  public ServletCallback(CallbackHandler handler) {
    this.handler = handler;
  }

  @Override
  public void handleRequest(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    handler.handle(new Exchange(request, original(request), response));
  }

  /** Returns the request as it came: Spring's filter hides the headers of proxies. */
  private static HttpServletRequest original(HttpServletRequest request) {
    ServletRequest original = request;
    while (original instanceof ServletRequestWrapper wrapper) {
      original = wrapper.getRequest();
    }
    return original instanceof HttpServletRequest http ? http : request;
  }

  private record Exchange(
      HttpServletRequest request, HttpServletRequest original, HttpServletResponse response)
      implements CallbackExchange {

    @Override
    public String method() {
      return request.getMethod();
    }

    @Override
    public @Nullable String header(String name) {
      return original.getHeader(name);
    }

    @Override
    public String remoteAddress() {
      return original.getRemoteAddr();
    }

    @Override
    public String serverName() {
      return original.getServerName();
    }

    @Override
    public InputStream body() throws IOException {
      return request.getInputStream();
    }

    @Override
    public OutputStream answer(int status, Map<String, String> headers) throws IOException {
      response.setStatus(status);
      headers.forEach(response::setHeader);
      return response.getOutputStream();
    }

    @Override
    public Runnable hold(Runnable broken) {
      AsyncContext context = request.startAsync(request, response);
      // Each job ends by its time-to-run; the container's own limit would cut the slow ones off.
      context.setTimeout(0);
      Runnable end = () -> end(context);
      context.addListener(new Broken(broken, end));
      return end;
    }

    private static void end(AsyncContext context) {
      try {
        context.complete();
      } catch (IllegalStateException e) {
        log.debug("The connection to the scheduler had ended already", e);
      }
    }

    @Override
    public void afterAnswer(BooleanSupplier rest) {
      RestOfBody.of(request, rest);
    }
  }

  /** Ends the request itself, so that the application's error page does not answer into it. */
  private record Broken(Runnable broken, Runnable end) implements AsyncListener {

    @Override
    public void onError(AsyncEvent event) {
      broken.run();
      end.run();
    }

    @Override
    public void onTimeout(AsyncEvent event) {
      onError(event);
    }

    @Override
    public void onStartAsync(AsyncEvent event) {}

    @Override
    public void onComplete(AsyncEvent event) {}
  }
}
