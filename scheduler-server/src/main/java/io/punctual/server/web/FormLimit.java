package io.punctual.server.web;

import io.punctual.ErrorCode;
import io.punctual.server.problem.ApiException;
import io.punctual.server.problem.Failures;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Locale;

/**
 * Accepts form bodies for the console only, and in limited sizes. To be asked before anything reads
 * a parameter, because Tomcat allocates the announced length. Strangers may send the login form and
 * no other.
 */
final class FormLimit {

  private static final String CONSOLE = "/console";
  private static final String LOGIN = CONSOLE + "/login";
  private static final int MAX_LOGIN = 4 * 1024;
  // Params of a job, each byte of which may take three.
  private static final int MAX = 1024 * 1024;

  private final BodyMemoryLimit bodies = BodyMemoryLimit.ofHeap(MAX);
  private final boolean anybody;

  /**
   * @param anybody whether callers need not log in
   */
  FormLimit(boolean anybody) {
    this.anybody = anybody;
  }

  /** Returns whether the body of a request is a form. */
  static boolean isForm(HttpServletRequest request) {
    String type = request.getContentType();
    String lower = type == null ? "" : type.strip().toLowerCase(Locale.ROOT);
    return lower.startsWith("application/x-www-form-urlencoded") || lower.startsWith("multipart/");
  }

  /** Hands a form on, or answers that it is not accepted. */
  void accept(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    if (!ServedPath.isBelow(request, CONSOLE)) {
      Problems.write(request, response, Failures.notJson());
      return;
    }
    boolean login = ServedPath.of(request).equals(LOGIN);
    long size = request.getContentLengthLong();
    if (size > (login ? MAX_LOGIN : MAX) || (login && size < 0)) {
      RequestGuard.drop(request);
      Problems.write(
          request,
          response,
          ApiException.of(
              ErrorCode.TOO_LARGE,
              "a form must be at most " + (login ? MAX_LOGIN : MAX) + " bytes"));
    } else if (!login && !anybody && request.getSession(false) == null) {
      response.sendRedirect(request.getContextPath() + LOGIN);
    } else {
      BodyMemoryLimit.Part part = bodies.open(request);
      try {
        if (login || BodyMemoryLimit.hold(request, size < 0 ? MAX : (int) size)) {
          chain.doFilter(request, response);
        } else {
          RequestGuard.drop(request);
          Problems.write(request, response, BodyMemoryLimit.refusal());
        }
      } finally {
        part.close();
      }
    }
  }
}
