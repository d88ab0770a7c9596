package io.punctual.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.security.Callers;
import jakarta.servlet.FilterChain;
import jakarta.servlet.http.HttpServletRequest;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

class CallerLimitTest {

  private static final FilterChain ANSWERED =
      (request, response) -> response.getWriter().write("answered");

  // Two calls of each caller.
  private final CallerLimit limit = new CallerLimit(8);

  private MockHttpServletResponse call(FilterChain chain) {
    MockHttpServletResponse response = new MockHttpServletResponse();
    try {
      limit.doFilter(new MockHttpServletRequest("POST", "/api/v1/jobs"), response, chain);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
    return response;
  }

  /** Makes calls, each while the one before is under way; then does something. */
  private void hold(int calls, Runnable then) {
    if (calls == 0) {
      then.run();
    } else {
      MockHttpServletResponse held =
          call(
              (request, response) -> {
                hold(calls - 1, then);
                response.getWriter().write("held");
              });
      assertThat(held.getStatus()).isEqualTo(200);
    }
  }

  private static String text(MockHttpServletResponse response) {
    return new String(response.getContentAsByteArray(), StandardCharsets.UTF_8);
  }

  private static void answered(MockHttpServletResponse response) {
    assertThat(text(response)).isEqualTo("answered");
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
                    MockHttpServletResponse refused = call(ANSWERED);
                    assertThat(refused.getStatus()).isEqualTo(429);
                    assertThat(refused.getHeader("Retry-After")).isEqualTo("1");
                    assertThat(refused.getHeader("Connection")).isEqualTo("close");
                    assertThat(text(refused))
                        .contains("\"code\":\"too-many\"", "shop has 2 calls under way");
                    Callers.application("other", () -> answered(call(ANSWERED)));
                    Callers.operator("shop", () -> answered(call(ANSWERED)));
                  }));
      // All of it is given back.
      Callers.application("shop", () -> answered(call(ANSWERED)));
    }
  }

  @Test
  void whereCallersNeedNotSayWhoTheyAreNoneIsLimited() {
    Callers.anybody(() -> hold(20, () -> answered(call(ANSWERED))));
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
