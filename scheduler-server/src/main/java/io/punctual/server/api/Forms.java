package io.punctual.server.api;

import io.punctual.ErrorCode;
import io.punctual.server.web.ApiException;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Locale;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.core.env.Profiles;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Lets bodies that are forms in for the console alone, and before anybody asks for a parameter:
 * Tomcat makes room for as much as a request says that it will send. Strangers send the login form
 * and no other.
 */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE)
class Forms extends OncePerRequestFilter {

  private static final String CONSOLE = "/console";
  private static final String LOGIN = CONSOLE + "/login";
  private static final int MAX_LOGIN = 4 * 1024;
  // Params of a job, each byte of which may take three.
  private static final int MAX = 1024 * 1024;

  private final OpenBodies bodies = OpenBodies.ofHeap(MAX);
  private final boolean anybody;

  Forms(Environment environment) {
    this.anybody = environment.acceptsProfiles(Profiles.of("quickstart"));
  }

  @Override
  protected boolean shouldNotFilter(HttpServletRequest request) {
    return !isForm(request.getContentType());
  }

  private static boolean isForm(String type) {
    String lower = type == null ? "" : type.strip().toLowerCase(Locale.ROOT);
    return lower.startsWith("application/x-www-form-urlencoded") || lower.startsWith("multipart/");
  }

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    String path = request.getRequestURI();
    if (!path.startsWith(CONSOLE + "/")) {
      Problems.write(request, response, JsonBody.notJson());
      return;
    }
    boolean login = path.equals(LOGIN);
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
      OpenBodies.Part part = bodies.open(request);
      try {
        if (login || OpenBodies.hold(request, size < 0 ? MAX : (int) size)) {
          chain.doFilter(request, response);
        } else {
          RequestGuard.drop(request);
          Problems.write(request, response, OpenBodies.refusal());
        }
      } finally {
        part.close();
      }
    }
  }
}
