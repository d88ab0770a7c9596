package io.punctual.server.web;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.function.BooleanSupplier;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ValveBase;
import org.apache.coyote.ActionCode;

/**
 * Tells Tomcat what no servlet can. {@link #drop} ends a connection together with what of a body
 * was not read: Tomcat otherwise waits for the rest, to throw it away, and a client that drips a
 * body would hold the connection all the same. {@link #closed} says whether the client of a request
 * that waits has closed its connection.
 */
public final class RequestGuard extends ValveBase {

  private static final String ATTRIBUTE = RequestGuard.class.getName();
  private static final String CLOSED = ATTRIBUTE + ".closed";

  RequestGuard() {
    super(/* asyncSupported= */ true);
  }

  @Override
  public void invoke(Request request, Response response) throws IOException, ServletException {
    Runnable drop = () -> request.getCoyoteRequest().action(ActionCode.DISABLE_SWALLOW_INPUT, null);
    request.setAttribute(ATTRIBUTE, drop);
    BooleanSupplier closed = () -> isClosed(request.getCoyoteRequest());
    request.setAttribute(CLOSED, closed);
    getNext().invoke(request, response);
  }

  /**
   * Returns whether the client has closed its connection. To be asked only while the request waits
   * asynchronously, with its body read.
   */
  public static boolean closed(HttpServletRequest request) {
    return request.getAttribute(CLOSED) instanceof BooleanSupplier closed && closed.getAsBoolean();
  }

  // A read that does not block; Tomcat answers 1 when it fails. A client that has sent one byte of
  // a next request before this one is answered is taken for closed: it gets no job, and may ask
  // again.
  private static boolean isClosed(org.apache.coyote.Request request) {
    request.action(ActionCode.AVAILABLE, true);
    return request.getAvailable() == 1;
  }

  /**
   * Nothing more of this request is read; the connection ends with its answer. Only for answers
   * after which Tomcat closes a connection (400, 413, 503, and those with Connection: close): after
   * another one it would take the rest of the body for the next request.
   */
  public static void drop(HttpServletRequest request) {
    if (request.getAttribute(ATTRIBUTE) instanceof Runnable drop) {
      drop.run();
    }
  }
}
