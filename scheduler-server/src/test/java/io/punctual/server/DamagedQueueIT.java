package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.ApiClient.Answer;
import io.punctual.server.metrics.ShortSampling;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.connection.RedisConnection;
import tools.jackson.databind.JsonNode;

/** Somebody writes over a key of one queue: it is shown as damaged, and all others as they are. */
@Import(ShortSampling.class)
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {SharedRedisTestBase.ALONE + "=DamagedQueueIT", "eureka.client.enabled=false"})
@Tag("full")
class DamagedQueueIT extends SharedRedisTestBase {

  private static final String CAUSE = ":{shop:broken:0}:delayed is a string, not a zset";

  @BeforeEach
  void twoQueuesOfWhichOneIsDamaged() {
    for (String type : new String[] {"broken", "whole"}) {
      submit(type, "a");
    }
    awaitHealth("UP");
    damage();
  }

  private void damage() {
    try (RedisConnection connection = connections.getConnection()) {
      connection.stringCommands().set(key(), "x".getBytes(StandardCharsets.UTF_8));
    }
  }

  @AfterEach
  void repair() {
    try (RedisConnection connection = connections.getConnection()) {
      connection.keyCommands().del(key());
    }
  }

  private byte[] key() {
    return (prefix + ":{shop:broken:0}:delayed").getBytes(StandardCharsets.UTF_8);
  }

  private void submit(String type, String id) {
    assertThat(
            api.post(
                    "/api/v1/jobs",
                    "{\"application\":\"shop\",\"taskType\":\"%s\",\"taskId\":\"%s\",\"delay\":\"1h\"}"
                        .formatted(type, id))
                .status())
        .isIn(200, 201);
  }

  private static ConditionFactory eventually() {
    return Awaitility.await().dontCatchUncaughtExceptions().atMost(Duration.ofSeconds(60));
  }

  private void awaitHealth(String status) {
    eventually()
        .until(() -> api.get("/actuator/health").at("/components/scanners/status").equals(status));
  }

  private List<String> figure(String type) {
    return api.get("/actuator/prometheus")
        .text()
        .lines()
        .filter(line -> line.startsWith("punctual_queue_jobs{"))
        .filter(line -> line.contains("task_type=\"" + type + "\""))
        .filter(line -> line.contains("state=\"not_due\""))
        .map(line -> line.substring(line.lastIndexOf(' ') + 1))
        .toList();
  }

  @Test
  void theApiShowsItAndTheOthers() {
    Answer queues = api.get("/api/v1/queues");

    assertThat(queues.status()).as(queues.text()).isEqualTo(200);
    JsonNode broken = queues.body().at("/items/0");
    assertThat(broken.get("taskType").asString()).isEqualTo("broken");
    assertThat(broken.get("damage").asString()).contains(prefix + CAUSE);
    assertThat(broken.get("delayed").isNull()).isTrue();
    assertThat(broken.get("counters").isNull()).isTrue();
    JsonNode whole = queues.body().at("/items/1");
    assertThat(whole.get("damage").isNull()).isTrue();
    assertThat(whole.get("delayed").asInt()).isEqualTo(1);
    assertThat(api.get("/api/v1/queues/shop/broken").at("/damage")).contains(CAUSE);

    Answer forecast = api.get("/api/v1/forecast?within=2h");
    assertThat(forecast.status()).as(forecast.text()).isEqualTo(200);
    assertThat(forecast.at("/damaged/0")).isEqualTo("shop/broken");
    int due = 0;
    for (JsonNode count : forecast.body().get("counts")) {
      due += count.asInt();
    }
    assertThat(due).isEqualTo(1);
  }

  @Test
  void whatWasDamagedAfterItWasSampledHidesNothing() throws Exception {
    repair();
    submit("broken", "x");
    eventually().until(() -> page("/jobs").contains("/console/jobs/shop/broken/x"));
    damage();
    assertThat(page("/jobs"))
        .contains("/console/jobs/shop/whole/a")
        .doesNotContain("/console/jobs/shop/broken/");
    assertThat(page("/jobs?q=state:dead")).contains("</html>");
  }

  @Test
  void theConsoleShowsItAndTheOthers() throws Exception {
    for (String path : new String[] {"", "/queues", "/queues/shop/broken", "/dead", "/jobs"}) {
      assertThat(page(path)).as(path).contains("</html>");
    }
    eventually()
        .untilAsserted(
            () -> {
              assertThat(page("")).contains(CAUSE.substring(1));
              assertThat(page("/queues")).contains("shop/whole", ">damaged<");
              assertThat(page("/queues?state=damaged"))
                  .contains("shop/broken")
                  .doesNotContain("shop/whole");
            });
    assertThat(page("/queues/shop/broken")).contains(CAUSE.substring(1));
  }

  @Test
  void onlyItsOwnFiguresAreMissing() {
    eventually()
        .untilAsserted(
            () -> {
              assertThat(figure("broken")).containsExactly("NaN");
              assertThat(figure("whole")).containsExactly("1.0");
              assertThat(api.get("/actuator/prometheus").text())
                  .contains("\npunctual_queues_damaged 1.0\n");
            });
  }

  @Test
  void doctorAndHealthNameItUntilItIsMended() {
    awaitHealth("WARNING");
    assertThat(api.get("/actuator/health").status()).isEqualTo(200);
    assertThat(api.get("/actuator/health/liveness").status()).isEqualTo(200);
    List<String> named = new ArrayList<>();
    for (JsonNode check : api.get("/api/v1/doctor").body().get("checks")) {
      assertThat(check.get("message").asString()).doesNotContain("could not be looked at");
      if (check.get("name").asString().equals("damaged")) {
        named.add(check.get("message").asString());
        assertThat(check.get("status").asString()).isEqualTo("problem");
        assertThat(check.get("remedy").asString()).contains("RENAME", "submit");
      }
    }
    assertThat(named).hasSize(1);
    assertThat(named.get(0)).contains("shop/broken", prefix + CAUSE);

    repair();

    awaitHealth("UP");
    // As the doctor says: what had stood there is gone, and the same ids are taken.
    submit("broken", "a");
    assertThat(api.get("/api/v1/queues/shop/broken").at("/delayed")).isEqualTo("1");
  }
}
