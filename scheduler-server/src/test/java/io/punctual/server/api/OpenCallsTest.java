package io.punctual.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.servlet.FilterChain;
import jakarta.servlet.http.HttpServletRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

class OpenCallsTest {

  private final OpenCalls calls = new OpenCalls(2, new OpenBodies(100));
  private final CountDownLatch begun = new CountDownLatch(2);
  private final CountDownLatch end = new CountDownLatch(1);

  private MockHttpServletResponse call(String path, FilterChain chain) {
    MockHttpServletResponse response = new MockHttpServletResponse();
    try {
      calls.doFilter(post(path), response, chain);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
    return response;
  }

  @Test
  void bodiesAreBoundedAllTogether() {
    FilterChain alone =
        (request, response) ->
            assertThat(OpenBodies.hold((HttpServletRequest) request, 60)).isTrue();
    FilterChain second =
        (request, response) ->
            assertThat(OpenBodies.hold((HttpServletRequest) request, 60)).isFalse();
    FilterChain both =
        (request, response) -> {
          alone.doFilter(request, response);
          call("/api/v1/jobs", second);
        };
    // Whatever becomes of a call, what it held is free again.
    for (int i = 0; i < 3; i++) {
      call("/api/v1/jobs", both);
      call("/api/v1/jobs", alone);
    }
  }

  private static MockHttpServletRequest post(String path) {
    return new MockHttpServletRequest("POST", path);
  }

  @Test
  void whatIsMoreThanCanBeUnderWayIsTurnedAwayAtOnce() throws Exception {
    List<Thread> waiting = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      waiting.add(
          Thread.ofVirtual()
              .start(
                  () ->
                      call(
                          "/api/v1/jobs",
                          (request, response) -> {
                            begun.countDown();
                            try {
                              end.await();
                            } catch (InterruptedException e) {
                              throw new AssertionError(e);
                            }
                          })));
    }
    assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();

    FilterChain answered = (request, response) -> response.getWriter().write("answered");
    MockHttpServletResponse refused = call("/api/v1/jobs", answered);
    assertThat(refused.getStatus()).isEqualTo(503);
    assertThat(refused.getHeader("Retry-After")).isEqualTo("2");
    assertThat(refused.getContentType()).isEqualTo("application/problem+json");
    assertThat(refused.getContentAsString()).contains("\"code\":\"unavailable\"", "2 calls");
    MockHttpServletResponse command = call("/api/v1/command", answered);
    assertThat(command.getContentAsString()).contains("\"success\":false");
    // Those who look after it get in.
    assertThat(call("/actuator/health", answered).getContentAsString()).isEqualTo("answered");

    end.countDown();
    for (Thread thread : waiting) {
      thread.join();
    }
    assertThat(call("/api/v1/jobs", answered).getContentAsString()).isEqualTo("answered");
  }
}
