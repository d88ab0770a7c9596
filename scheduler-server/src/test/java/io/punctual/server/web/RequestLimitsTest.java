package io.punctual.server.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.punctual.server.problem.ApiException;
import io.punctual.server.security.Callers;
import jakarta.servlet.FilterChain;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

class RequestLimitsTest {

  private static final FilterChain ANSWERED =
      (request, response) -> response.getWriter().write("answered");

  // Two calls of each caller.
  private final RequestLimits limits = limits(8);

  private static RequestLimits limits(int max) {
    return new RequestLimits(max, new BodyMemoryLimit(100, 100), new FormLimit(false));
  }

  private static MockHttpServletResponse call(
      RequestLimits limits, String path, FilterChain chain) {
    MockHttpServletRequest request = new MockHttpServletRequest("POST", path);
    request.setServletPath(path);
    MockHttpServletResponse response = new MockHttpServletResponse();
    try {
      limits.doFilter(request, response, chain);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
    return response;
  }

  /** Makes a call whose caller has logged in. */
  private MockHttpServletResponse admitted(FilterChain chain) {
    return call(
        limits,
        "/api/v1/jobs",
        (request, response) -> {
          RequestLimits.admit((HttpServletRequest) request, (HttpServletResponse) response);
          chain.doFilter(request, response);
        });
  }

  /** Makes calls, each while the one before is under way; then does something. */
  private void hold(int calls, Runnable then) {
    if (calls == 0) {
      then.run();
    } else {
      MockHttpServletResponse held =
          admitted(
              (request, response) -> {
                hold(calls - 1, then);
                response.getWriter().write("held");
              });
      assertThat(held.getStatus()).isEqualTo(200);
    }
  }

  private static void answered(MockHttpServletResponse response) {
    assertThat(new String(response.getContentAsByteArray(), StandardCharsets.UTF_8))
        .isEqualTo("answered");
  }

  private void refused() {
    call(
        limits,
        "/api/v1/jobs",
        (request, response) -> {
          ApiException refusal =
              catchThrowableOfType(
                  ApiException.class,
                  () ->
                      RequestLimits.admit(
                          (HttpServletRequest) request, (HttpServletResponse) response));
          assertThat(refusal.status()).isEqualTo(429);
          assertThat(refusal.retryAfterSeconds()).isEqualTo("1");
          assertThat(refusal).hasMessageContaining("shop has 2 calls under way");
          assertThat(((HttpServletResponse) response).getHeader("Connection")).isEqualTo("close");
        });
  }

  @Test
  void aCallerThatHasItsShareUnderWayIsRefusedAndOthersAreNot() {
    for (int i = 0; i < 3; i++) {
      Callers.application(
          "shop",
          () ->
              hold(
                  2,
                  () -> {
                    refused();
                    Callers.application("other", () -> answered(admitted(ANSWERED)));
                    Callers.operator("shop", () -> answered(admitted(ANSWERED)));
                  }));
      // All of it is given back.
      Callers.application("shop", () -> answered(admitted(ANSWERED)));
      assertThat(limits.callers()).isZero();
    }
  }

  @Test
  void whereCallersNeedNotSayWhoTheyAreNoneIsLimited() {
    Callers.anybody(() -> hold(8, () -> {}));
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
          call(limits, "/api/v1/jobs", second);
        };
    // Whatever becomes of a call, what it held is free again.
    for (int i = 0; i < 3; i++) {
      call(limits, "/api/v1/jobs", both);
      call(limits, "/api/v1/jobs", alone);
    }
    assertThat(limits.bodyBytes()).isZero();
  }

  @Test
  void moreCallsThanCanBeUnderWayAreRefusedAtOnce() throws Exception {
    RequestLimits two = limits(2);
    CountDownLatch begun = new CountDownLatch(2);
    CountDownLatch end = new CountDownLatch(1);
    List<Thread> waiting = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      waiting.add(
          Thread.ofVirtual()
              .start(
                  () ->
                      call(
                          two,
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

    MockHttpServletResponse refused = call(two, "/api/v1/jobs", ANSWERED);
    assertThat(refused.getStatus()).isEqualTo(503);
    assertThat(refused.getHeader("Retry-After")).isEqualTo("2");
    assertThat(refused.getContentType()).isEqualTo("application/problem+json");
    assertThat(refused.getContentAsString()).contains("\"code\":\"unavailable\"", "2 calls");
    MockHttpServletResponse command = call(two, "/api/v1/command", ANSWERED);
    assertThat(command.getContentAsString()).contains("\"success\":false");
    // Pages are no calls.
    answered(call(two, "/console", ANSWERED));

    end.countDown();
    for (Thread thread : waiting) {
      thread.join();
    }
    answered(call(two, "/api/v1/jobs", ANSWERED));
    assertThat(two.open()).isZero();
  }

  @Test
  void oneCallerHoldsNoMoreThanItsShareOfTheMemoryForBodies() {
    BodyMemoryLimit bodies = new BodyMemoryLimit(100, 60);
    HttpServletRequest first = new MockHttpServletRequest();
    HttpServletRequest second = new MockHttpServletRequest();
    HttpServletRequest third = new MockHttpServletRequest();
    BodyMemoryLimit.Part held = bodies.open(first);
    BodyMemoryLimit.Part refused = bodies.open(second);
    BodyMemoryLimit.Part others = bodies.open(third);

    Callers.application(
        "shop",
        () -> {
          assertThat(BodyMemoryLimit.hold(first, 50)).isTrue();
          assertThat(BodyMemoryLimit.hold(second, 20)).isFalse();
        });
    Callers.application("other", () -> assertThat(BodyMemoryLimit.hold(third, 50)).isTrue());

    held.close();
    refused.close();
    others.close();
    BodyMemoryLimit.Part again = bodies.open(first);
    Callers.application("shop", () -> assertThat(BodyMemoryLimit.hold(first, 60)).isTrue());
    again.close();
  }
}
