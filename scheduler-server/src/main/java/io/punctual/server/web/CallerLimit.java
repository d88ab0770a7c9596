package io.punctual.server.web;

import io.punctual.server.problem.ApiException;
import io.punctual.server.security.Caller;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.http.HttpHeaders;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Limits the calls under way of one application, or of one operator, behind the login: no caller
 * takes all places from the others.
 */
final class CallerLimit extends OncePerRequestFilter {

  private static final int PART_OF_CALLER = 4;

  private final int max;
  private final Map<String, Integer> open = new ConcurrentHashMap<>();

  /**
   * @param all most calls of all callers together
   */
  CallerLimit(int all) {
    this.max = Math.max(1, all / PART_OF_CALLER);
  }

  /** Returns how many callers have calls under way. */
  int callers() {
    return open.size();
  }

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    String caller = Caller.current().account();
    if (caller == null) {
      chain.doFilter(request, response);
      return;
    }
    try {
      if (open.merge(caller, 1, Integer::sum) > max) {
        // What is left of the body is not waited for.
        RequestGuard.drop(request);
        response.setHeader(HttpHeaders.CONNECTION, "close");
        Problems.write(
            request,
            response,
            ApiException.tooMany(
                caller
                    + " has "
                    + max
                    + " calls under way at this scheduler, which is the most: nothing was changed;"
                    + " try again when some of them are answered",
                Duration.ofSeconds(1)));
        return;
      }
      chain.doFilter(request, response);
    } finally {
      open.computeIfPresent(caller, (name, count) -> count == 1 ? null : count - 1);
    }
  }
}
