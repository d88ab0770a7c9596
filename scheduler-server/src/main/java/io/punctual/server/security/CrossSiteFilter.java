package io.punctual.server.security;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.web.access.AccessDeniedHandler;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Refuses changes that pages of other sites send by an operator's browser: browsers add the
 * password that an operator once typed to each request.
 */
final class CrossSiteFilter extends OncePerRequestFilter {

  private final AccessDeniedHandler denied;

  CrossSiteFilter(AccessDeniedHandler denied) {
    this.denied = denied;
  }

  /** Returns whether a browser says that another site sent this. Other clients say nothing. */
  static boolean sent(HttpServletRequest request) {
    String site = request.getHeader("Sec-Fetch-Site");
    return site == null
        ? request.getHeader("Origin") != null
        : !site.equals("same-origin") && !site.equals("none");
  }

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    // The answer to a GET cannot be read there, and it changes nothing.
    if (!request.getMethod().equals("GET") && sent(request)) {
      denied.handle(request, response, new AccessDeniedException("sent by another site"));
      return;
    }
    chain.doFilter(request, response);
  }
}
