package io.punctual.spring.client.servlet;

import io.punctual.client.callback.CallbackGuard;
import jakarta.servlet.ServletException;
import java.io.IOException;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ValveBase;

/**
 * Adds the header {@code Via} to a callback that came through a proxy. Later valves remove the
 * forwarding headers that they trust, but not {@code Via}.
 */
public final class TomcatForwarded extends ValveBase {

  private final String path;

  /**
   * @param path of the callback, with the application's context path; other requests pass through
   */
  public TomcatForwarded(String path) {
    super(/* asyncSupported= */ true);
    this.path = path;
  }

  @Override
  public void invoke(Request request, Response response) throws IOException, ServletException {
    if (path.equals(request.getDecodedRequestURI())
        && CallbackGuard.isForwarded(request::getHeader)) {
      request.getCoyoteRequest().getMimeHeaders().addValue("Via").setString("1.1 proxy");
    }
    getNext().invoke(request, response);
  }
}
