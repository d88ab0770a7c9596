package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpRequest.BodyPublishers;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;

/** An application that submits faster than it may is told to slow down, and others are not. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {"eureka.client.enabled=false", "punctual.quota.submits-per-second=10"})
class SubmitRateIT extends SharedRedisTestBase {

  private static String jobs(String application) {
    return IntStream.range(0, 100)
        .mapToObj(
            id ->
                "{\"application\":\"%s\",\"taskType\":\"a\",\"taskId\":\"%s\",\"delay\":\"1h\"}"
                    .formatted(application, id))
        .collect(Collectors.joining(",", "{\"jobs\":[", "]}"));
  }

  @Test
  void whatIsTooFastIsRefusedAndSaysWhen() {
    ApiClient.Answer fast = api.post("/api/v1/jobs/batch", jobs("hasty"));

    assertThat(fast.at("/results/0/status")).isEqualTo("201");
    assertThat(fast.at("/results/9/status")).isEqualTo("201");
    // The batch takes no five seconds.
    assertThat(fast.at("/results/99/status")).isEqualTo("429");
    assertThat(fast.at("/results/99/problem/limit")).isEqualTo("submits-per-second");
    assertThat(fast.at("/results/99/problem/detail"))
        .contains("hasty submits more than 10 jobs a second", "nothing was changed");

    assertThat(api.post("/api/v1/jobs/batch", jobs("calm")).at("/results/0/status"))
        .isEqualTo("201");
  }

  @Test
  void aBackfillSubmitsAsManyJobsAsTheApplicationMay() {
    String schedule = "/api/v1/schedules/filling/a/s";
    api.call("PUT", schedule, "application/json", BodyPublishers.ofString("{\"cron\":\"@daily\"}"));

    ApiClient.Answer filled =
        api.post(
            schedule + "/backfill",
            "{\"from\":\"2026-01-01T00:00:00Z\",\"until\":\"2026-12-01T00:00:00Z\","
                + "\"limit\":200,\"policy\":\"start\"}");

    assertThat(filled.status()).as(filled.text()).isEqualTo(200);
    assertThat(filled.body().at("/items")).hasSizeBetween(10, 50);
    assertThat(filled.at("/next")).startsWith("2026-0");
  }
}
