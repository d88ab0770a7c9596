package io.punctual.server.web;

import io.punctual.server.problem.ApiException;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Limits the calls under way, before anything else is done for them: each holds a connection's
 * buffers and its own input while the store works, some 100 kB as measured. Calls that wait for
 * jobs are not counted while they wait.
 */
final class InFlightLimit extends OncePerRequestFilter {

  private static final long BYTES_EACH = 256 * 1024;
  private static final int MIN = 500;
  private static final int MAX = 10_000;

  private final int max;
  private final BodyMemoryLimit bodies;
  private final AtomicInteger open = new AtomicInteger();

  /**
   * @param max most calls
   */
  InFlightLimit(int max, BodyMemoryLimit bodies) {
    this.max = max;
    this.bodies = bodies;
  }

  /** As many calls as the heap bears. */
  static int ofHeap() {
    return (int) Math.max(MIN, Math.min(MAX, Runtime.getRuntime().maxMemory() / BYTES_EACH));
  }

  /** Returns how many calls are under way. */
  int open() {
    return open.get();
  }

  /** Returns how many bytes of bodies they hold. */
  long bodyBytes() {
    return bodies.held();
  }

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    try {
      if (open.incrementAndGet() > max) {
        Problems.write(
            request,
            response,
            ApiException.unavailable(
                "this scheduler has "
                    + max
                    + " calls under way: nothing was changed; try again later, or ask another one",
                Duration.ofSeconds(2)));
        return;
      }
      BodyMemoryLimit.Part body = bodies.open(request);
      try {
        chain.doFilter(request, response);
      } finally {
        body.close();
      }
    } finally {
      open.decrementAndGet();
    }
  }
}
