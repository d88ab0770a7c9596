package io.punctual.server.api;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.regex.Pattern;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ValveBase;
import org.apache.coyote.ActionCode;

/**
 * Refuses paths with dot segments, which the parts of the server read differently, and lets a
 * connection go together with what of a body was not read: Tomcat otherwise waits for the rest, to
 * throw it away, and whoever drips a body would hold the connection all the same.
 */
final class RequestGuard extends ValveBase {

  private static final Pattern DOTS = Pattern.compile("/(?:\\.|%2[eE]){1,2}(?:[/;?]|$)");
  private static final String ATTRIBUTE = RequestGuard.class.getName();

  RequestGuard() {
    super(/* asyncSupported= */ true);
  }

  @Override
  public void invoke(Request request, Response response) throws IOException, ServletException {
    if (DOTS.matcher(request.getRequestURI()).find()) {
      response.sendError(400);
      return;
    }
    Runnable drop = () -> request.getCoyoteRequest().action(ActionCode.DISABLE_SWALLOW_INPUT, null);
    request.setAttribute(ATTRIBUTE, drop);
    getNext().invoke(request, response);
  }

  /**
   * Nothing more of this request is read; the connection ends with its answer. Only for answers
   * after which Tomcat lets a connection go (400, 413, 503): after another one it would take the
   * rest of the body for the next request.
   */
  static void drop(HttpServletRequest request) {
    if (request.getAttribute(ATTRIBUTE) instanceof Runnable drop) {
      drop.run();
    }
  }
}
