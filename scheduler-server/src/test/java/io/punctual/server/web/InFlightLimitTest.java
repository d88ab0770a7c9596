package io.punctual.server.web;

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

class InFlightLimitTest {

  private final InFlightLimit calls = new InFlightLimit(2, new BodyMemoryLimit(100, 100));
  private final CountDownLatch begun = new CountDownLatch(2);
  private final CountDownLatch end = new CountDownLatch(1);

  private MockHttpServletResponse call(String path, FilterChain chain) {
    MockHttpServletRequest request = new MockHttpServletRequest("POST", path);
    request.setServletPath(path);
    MockHttpServletResponse response = new MockHttpServletResponse();
    try {
      calls.doFilter(request, response, chain);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
    return response;
  }

  @Test
  void bodiesAreBoundedAllTogether() {
    FilterChain alone =
        (request, response) ->
            assertThat(BodyMemoryLimit.hold((HttpServletRequest) request, 60)).isTrue();
    FilterChain second =
        (request, response) ->
            assertThat(BodyMemoryLimit.hold((HttpServletRequest) request, 60)).isFalse();
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

  @Test
  void moreCallsThanCanBeUnderWayAreRefusedAtOnce() throws Exception {
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

    end.countDown();
    for (Thread thread : waiting) {
      thread.join();
    }
    assertThat(call("/api/v1/jobs", answered).getContentAsString()).isEqualTo("answered");
  }
}
