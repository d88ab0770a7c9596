package io.punctual.server.api;

import io.punctual.server.config.PunctualProperties;
import io.punctual.server.web.ApiException;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Bounds the calls that are under way: each holds a connection's buffers and its own input while
 * the store takes its time, some 100 kB as was seen. Those who wait for jobs are bounded by
 * themselves, see {@link OpenPulls}.
 */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE)
class OpenCalls extends OncePerRequestFilter {

  private static final long BYTES_EACH = 256 * 1024;
  private static final int MIN = 500;
  private static final int MAX = 10_000;

  private final int max;
  private final OpenBodies bodies;
  private final AtomicInteger open = new AtomicInteger();

  @Autowired
  OpenCalls(PunctualProperties properties) {
    this(
        (int) Math.max(MIN, Math.min(MAX, Runtime.getRuntime().maxMemory() / BYTES_EACH)),
        OpenBodies.ofHeap(properties.api().maxBatchBody().toBytes()));
  }

  OpenCalls(int max, OpenBodies bodies) {
    this.max = max;
    this.bodies = bodies;
  }

  @Override
  protected boolean shouldNotFilter(HttpServletRequest request) {
    // Whoever looks after this scheduler gets in when it is busy, too.
    return !request.getRequestURI().startsWith("/api/");
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
      OpenBodies.Part body = bodies.open(request);
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
