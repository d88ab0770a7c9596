package io.punctual.spring.client.servlet;

import jakarta.servlet.http.HttpServletRequest;
import java.util.function.BooleanSupplier;

/** What is done with the rest of a body when all else of its request is over. */
final class RestOfBody {

  private static final String ATTRIBUTE = RestOfBody.class.getName();

  private BooleanSupplier reader = () -> true;

  /** Prepares a request whose server asks for it. */
  static RestOfBody prepare(HttpServletRequest request) {
    RestOfBody rest = new RestOfBody();
    request.setAttribute(ATTRIBUTE, rest);
    return rest;
  }

  /**
   * Says what is to be done, where the server asks for it.
   *
   * @param reader reads it; says whether all of it came
   */
  static void of(HttpServletRequest request, BooleanSupplier reader) {
    if (request.getAttribute(ATTRIBUTE) instanceof RestOfBody rest) {
      rest.reader = reader;
    }
  }

  /** Reads it; if not all of it came, the connection is to end. */
  boolean read() {
    return reader.getAsBoolean();
  }
}
