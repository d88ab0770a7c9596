package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.ApiClient.Answer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;

/** Of 40 connections 20 may wait for jobs, and 10 for those of one application. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {"eureka.client.enabled=false", "server.tomcat.max-connections=40"})
@Tag("full")
class PullBoundIT extends SharedRedisTestBase {

  private static String claim(String application, String wait) {
    return "{\"application\":\"%s\",\"taskTypes\":[\"a\"],\"wait\":\"%s\",\"worker\":\"w\"}"
        .formatted(application, wait);
  }

  private Answer claim(String application) {
    return api.post("/api/v1/claims", claim(application, "0s"));
  }

  private int leave(String application) {
    return api.post(
            "/api/v1/claims:leave",
            "{\"application\":\"%s\",\"worker\":\"w\"}".formatted(application))
        .body()
        .get("ended")
        .intValue();
  }

  @Test
  void oneApplicationKeepsNoOtherFromWaitingAndAllTogetherLeaveRoomForOtherCalls()
      throws Exception {
    try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      List<CompletableFuture<Answer>> waiting = waitUntilRefused(callers, "greedy");
      Answer refused = claim("GREEDY");
      assertThat(refused.at("/code")).isEqualTo("too-many");
      assertThat(refused.at("/detail")).contains("greedy has 10 requests that wait for jobs");
      assertThat(refused.header("Retry-After")).isEqualTo("2");
      assertThat(
              api.post(
                      "/api/v1/command",
                      "{\"command\":\"pop\",\"application\":\"greedy\",\"topic\":\"a\"}")
                  .status())
          .isEqualTo(429);

      assertThat(claim("third").status()).isEqualTo(204);
      waiting.addAll(waitUntilRefused(callers, "modest"));
      assertThat(claim("third").status()).isEqualTo(503);
      assertThat(claim("third").at("/detail")).contains("20 requests that wait for jobs");
      assertThat(api.get("/api/v1/queues").status()).isEqualTo(200);

      assertThat(leave("greedy")).isEqualTo(10);
      assertThat(leave("modest")).isEqualTo(10);
      int answered = 0;
      for (CompletableFuture<Answer> answer : waiting) {
        answered += answer.get(20, TimeUnit.SECONDS).status() == 204 ? 1 : 0;
      }
      assertThat(answered).isEqualTo(20);
      assertThat(claim("greedy").status()).isEqualTo(204);
    }
  }

  /** One after the other, some of which may be refused as well. */
  private List<CompletableFuture<Answer>> waitUntilRefused(
      ExecutorService callers, String application) {
    List<CompletableFuture<Answer>> waiting = new ArrayList<>();
    Awaitility.await()
        .atMost(Duration.ofSeconds(10))
        .until(
            () -> {
              waiting.add(
                  CompletableFuture.supplyAsync(
                      () -> api.post("/api/v1/claims", claim(application, "60s")), callers));
              return claim(application).status() == 429;
            });
    return waiting;
  }
}
