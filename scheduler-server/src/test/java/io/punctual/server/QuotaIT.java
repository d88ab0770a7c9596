package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.RedisServer;
import io.punctual.server.ApiClient.Answer;
import java.time.Duration;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.JsonNode;

/** No application takes Redis from the others. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {
      "eureka.client.enabled=false",
      "punctual.quota.jobs=100",
      "punctual.quota.memory-percent=10"
    })
@ExtendWith(OutputCaptureExtension.class)
@Isolated("reads what is printed")
@Tag("full")
class QuotaIT extends ServerTestBase {

  // A tenth of it, 4 MB, may be of one application.
  private static final RedisServer REDIS =
      RedisServer.startTemporary("--maxmemory", "40000000", "--maxmemory-policy", "noeviction");
  private static final int LARGE = 200_000;

  @DynamicPropertySource
  static void redis(DynamicPropertyRegistry registry) {
    registry.add("spring.data.redis.host", () -> "127.0.0.1");
    registry.add("spring.data.redis.port", REDIS::port);
  }

  @AfterAll
  static void stop() {
    REDIS.close();
  }

  private static String job(String application, int id, int size) {
    return ("{\"application\":\"%s\",\"taskType\":\"fill\",\"taskId\":\"%s\",\"delay\":\"1h\","
            + "\"params\":\"%s\"}")
        .formatted(application, id, "x".repeat(size));
  }

  private Answer submit(String application, int id, int size) {
    return api.post("/api/v1/jobs", job(application, id, size));
  }

  private Answer submitMany(String application, int from, int to, int size) {
    return api.post(
        "/api/v1/jobs/batch",
        IntStream.range(from, to)
            .mapToObj(id -> job(application, id, size))
            .collect(Collectors.joining(",", "{\"jobs\":[", "]}")));
  }

  private void purgeAll(String application) {
    Answer purged =
        api.post(
            "/api/v1/jobs:purge",
            "{\"application\":\"%s\",\"taskType\":\"fill\",\"state\":\"delayed\",\"limit\":200}"
                .formatted(application));
    assertThat(purged.status()).as("%s", purged.body()).isEqualTo(200);
  }

  /** How bad the doctor finds the quota; empty where it says nothing. */
  private String quotaStatus(String application) {
    return quota(application, "status");
  }

  private String quotaSeen(String application) {
    return quota(application, "message");
  }

  private String quota(String application, String field) {
    Answer doctor = api.get("/api/v1/doctor?application=" + application);
    for (JsonNode check : doctor.body().get("checks")) {
      if (check.get("name").asString().equals("quota")) {
        return check.get(field).asString();
      }
    }
    return "";
  }

  private static ConditionFactory within() {
    return Awaitility.await().atMost(Duration.ofSeconds(30));
  }

  @Test
  void anApplicationKeepsSoManyJobsAndPurgingMakesRoom() {
    Answer filled = submitMany("counted", 0, 100, 1);
    assertThat(filled.at("/results/99/status")).isEqualTo("201");

    Answer refused = submit("counted", 100, 1);

    assertThat(refused.status()).isEqualTo(429);
    assertThat(refused.at("/code")).isEqualTo("too-many");
    assertThat(refused.at("/limit")).isEqualTo("jobs");
    assertThat(refused.at("/used")).isEqualTo("100");
    assertThat(refused.at("/left")).isEqualTo("0");
    assertThat(refused.at("/detail"))
        .contains("counted keeps 100 of 100 jobs", "punctual.quota.jobs");
    assertThat(submitMany("counted", 100, 101, 1).at("/results/0/status")).isEqualTo("429");
    Answer added =
        api.post(
            "/api/v1/command",
            "{\"command\":\"add\",\"application\":\"Counted\",\"topic\":\"fill\",\"id\":\"x\",\"delay\":1}");
    assertThat(added.status()).isEqualTo(429);
    assertThat(submit("another", 0, 1).status()).isEqualTo(201);
    assertThat(quotaStatus("counted")).isEqualTo("problem");
    assertThat(quotaStatus("another")).isEmpty();

    purgeAll("counted");

    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .until(() -> submit("counted", 200, 1).status() == 201);
  }

  @Test
  void anApplicationIsWarnedOfAtFourFifthsOfItsQuotaOnce(CapturedOutput output) {
    submitMany("nearly", 0, 70, 1);
    // What was accepted while it was counted may be counted twice, until the next count.
    within().until(() -> quotaStatus("nearly").isEmpty());

    submitMany("nearly", 70, 80, 1);

    within().until(() -> quotaStatus("nearly").equals("warning"));
    String warning = "Quota nearly used up: nearly keeps 80 jobs, and may keep 100";
    within().until(() -> output.getAll().contains(warning));
    assertThat(submit("nearly", 80, 1).status()).isEqualTo(201);
    within().until(() -> quotaSeen("nearly").equals("nearly keeps 81 jobs, and may keep 100"));
    assertThat(output.getAll().split("Quota nearly used up: nearly", -1)).hasSize(2);
  }

  @Test
  void anApplicationTakesItsShareOfRedissMemoryAndNoMore() {
    // Redis's maxmemory is read when the scheduler starts.
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .until(
            () -> {
              submitMany("large", 0, 10, LARGE);
              return submitMany("large", 10, 30, LARGE).at("/results/19/status").equals("429");
            });

    Answer refused = submit("large", 31, LARGE);

    assertThat(refused.status()).isEqualTo(429);
    assertThat(refused.at("/limit")).isEqualTo("bytes");
    assertThat(refused.at("/max")).isEqualTo("4000000");
    assertThat(refused.at("/detail"))
        .contains("10 % of maxmemory", "punctual.quota.memory-percent", "nothing was changed");
    assertThat(submit("small", 0, LARGE).status()).isEqualTo(201);
    // What is there can be moved and read; only more of it is refused.
    assertThat(api.patch("/api/v1/jobs/large/fill/0", "{\"delay\":\"2h\"}").status())
        .isEqualTo(200);
    assertThat(
            api.patch("/api/v1/jobs/large/fill/0", "{\"params\":\"" + "y".repeat(LARGE) + "\"}")
                .status())
        .isEqualTo(429);

    purgeAll("large");

    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .until(() -> submit("large", 40, LARGE).status() == 201);
  }
}
