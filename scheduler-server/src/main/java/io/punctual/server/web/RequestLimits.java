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
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Limits what requests under way take, before anything else is done for them. Forms are limited by
 * {@link FormLimit}. Each call of the API holds a connection's buffers and its own input while the
 * store works, some 100 kB as measured, so calls are limited in number and in the memory of their
 * bodies, all together and for each caller. Calls that wait for jobs are not counted while they
 * wait.
 *
 * <p>A caller is known only after the login: {@link #admit} counts the call for it.
 */
final class RequestLimits extends OncePerRequestFilter {

  private static final String ATTRIBUTE = RequestLimits.class.getName();
  private static final long BYTES_EACH = 256 * 1024;
  private static final int MIN = 500;
  private static final int MAX = 10_000;
  private static final int PART_OF_CALLER = 4;

  private final int max;
  private final int maxOfCaller;
  private final BodyMemoryLimit bodies;
  private final FormLimit forms;
  private final AtomicInteger open = new AtomicInteger();
  private final Map<String, Integer> openByCaller = new ConcurrentHashMap<>();

  /**
   * @param max most calls of all callers; a caller may have a quarter of them
   */
  RequestLimits(int max, BodyMemoryLimit bodies, FormLimit forms) {
    this.max = max;
    this.maxOfCaller = Math.max(1, max / PART_OF_CALLER);
    this.bodies = bodies;
    this.forms = forms;
  }

  /** Returns as many calls as the heap bears. */
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

  /** Returns how many callers have calls under way. */
  int callers() {
    return openByCaller.size();
  }

  /**
   * Counts a call of the API for its caller, until the call ends.
   *
   * @throws ApiException 429 if the caller has its share of calls under way
   */
  static void admit(HttpServletRequest request, HttpServletResponse response) {
    if (request.getAttribute(ATTRIBUTE) instanceof Call call && !call.isAdmitted()) {
      // What is left of the body is not waited for.
      RequestGuard.drop(request);
      response.setHeader(HttpHeaders.CONNECTION, "close");
      throw call.refusal();
    }
  }

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    if (FormLimit.isForm(request)) {
      forms.accept(request, response, chain);
    } else if (ServedPath.isBelow(request, "/api")) {
      call(request, response, chain);
    } else {
      chain.doFilter(request, response);
    }
  }

  private void call(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    Call call = new Call();
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
      request.setAttribute(ATTRIBUTE, call);
      BodyMemoryLimit.Part body = bodies.open(request);
      try {
        chain.doFilter(request, response);
      } finally {
        body.close();
      }
    } finally {
      call.close();
      open.decrementAndGet();
    }
  }

  /** One call under way; used by the thread that serves it. */
  private final class Call {

    private @Nullable String caller;

    private boolean isAdmitted() {
      String name = Caller.current().account();
      if (name == null) {
        return true;
      }
      caller = name;
      return openByCaller.merge(name, 1, Integer::sum) <= maxOfCaller;
    }

    private ApiException refusal() {
      return ApiException.tooMany(
          caller
              + " has "
              + maxOfCaller
              + " calls under way at this scheduler, which is the most: nothing was changed;"
              + " try again when some of them are answered",
          Duration.ofSeconds(1));
    }

    private void close() {
      String name = caller;
      if (name != null) {
        openByCaller.computeIfPresent(name, (any, count) -> count == 1 ? null : count - 1);
      }
    }
  }
}
