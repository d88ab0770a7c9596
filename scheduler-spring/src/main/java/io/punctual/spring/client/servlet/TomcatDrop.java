package io.punctual.spring.client.servlet;

import jakarta.servlet.ServletException;
import java.io.IOException;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ValveBase;
import org.apache.coyote.ActionCode;

/**
 * Reads the rest of a refused callback's body, within bounds, and lets the connection go where
 * there is more: Tomcat otherwise waits for it, to throw it away, and whoever drips a body would
 * hold connection and thread all the same. Its place is around the host's own valves, for which
 * either is an error, to which they would add the application's error page.
 */
public final class TomcatDrop extends ValveBase {

  private final String path;

  /**
   * @param path of the callback, with the application's context path; other requests pass through
   */
  public TomcatDrop(String path) {
    super(/* asyncSupported= */ true);
    this.path = path;
  }

  @Override
  public void invoke(Request request, Response response) throws IOException, ServletException {
    if (!path.equals(request.getDecodedRequestURI())) {
      getNext().invoke(request, response);
      return;
    }
    RestOfBody rest = RestOfBody.prepare(request);
    getNext().invoke(request, response);
    if (!rest.read()) {
      request.getCoyoteRequest().action(ActionCode.DISABLE_SWALLOW_INPUT, null);
    }
  }
}
