package io.punctual.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.RedisServer;
import io.punctual.server.ApiClient.Answer;
import io.punctual.server.ServerTestBase;
import io.punctual.server.jobs.BulkOperation;
import io.punctual.server.jobs.BulkOperations;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.JsonNode;

/** Redis ends in the middle of a bulk operation. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {
      "spring.profiles.active=closed",
      "eureka.client.enabled=false",
      "punctual.security.signing-keys=" + ConsoleTestBase.KEY,
      "punctual.security.operators.bea.password=" + ConsoleTestBase.HASH,
      "punctual.security.operators.bea.role=admin"
    })
@ExtendWith(OutputCaptureExtension.class)
@Isolated("reads what is printed")
@Tag("full")
class BulkOutageIT extends ServerTestBase {

  private static final RedisServer REDIS = RedisServer.startTemporary();
  private static final int JOBS = 1_000;

  @Autowired private RedisConnectionFactory connections;
  @Autowired private BulkOperations bulk;

  @Value("${punctual.key-prefix:punctual}")
  private String prefix;

  @DynamicPropertySource
  static void redis(DynamicPropertyRegistry registry) {
    registry.add("spring.data.redis.host", () -> "127.0.0.1");
    registry.add("spring.data.redis.port", REDIS::port);
  }

  @AfterAll
  static void stop() {
    REDIS.close();
  }

  private static ConditionFactory eventually() {
    return Awaitility.await().atMost(Duration.ofSeconds(60));
  }

  private Answer call(String method, String path, String json) {
    return api.call(method, path, json, ConsoleTestBase.ADMIN);
  }

  private void submit(String type) {
    String jobs =
        IntStream.range(0, JOBS)
            .mapToObj(
                i ->
                    "{\"application\":\"shop\",\"taskType\":\"%s\",\"taskId\":\"j%d\",\"delay\":\"1h\"}"
                        .formatted(type, i))
            .collect(Collectors.joining(","));
    Answer answer = call("POST", "/api/v1/jobs/batch", "{\"jobs\":[" + jobs + "]}");
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    assertThat(delayed(type)).isEqualTo(JOBS);
  }

  private long delayed(String type) {
    byte[] key = (prefix + ":{shop:" + type + ":0}:delayed").getBytes(StandardCharsets.UTF_8);
    try (RedisConnection connection = connections.getConnection()) {
      Long count = connection.zSetCommands().zCard(key);
      return count == null ? 0 : count;
    }
  }

  /** Kills Redis as soon as some of the jobs are gone. */
  private void killInTheMiddle(String type) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(1))
        // All of these but the last one are confirmed by then.
        .until(() -> delayed(type) <= JOBS - 20);
    REDIS.kill();
  }

  @Test
  void aCallIsAnsweredWithWhatItDidAndSaysSoInTheAudit(CapturedOutput output) {
    submit("call");
    String cancel =
        "{\"application\":\"shop\",\"taskType\":\"call\",\"state\":\"delayed\",\"limit\":1000";
    CompletableFuture<Answer> answered =
        CompletableFuture.supplyAsync(() -> call("POST", "/api/v1/jobs:cancel", cancel + "}"));
    killInTheMiddle("call");

    Answer broken = answered.join();

    assertThat(broken.status()).as(broken.text()).isEqualTo(503);
    assertThat(broken.headers().firstValue("Retry-After")).isPresent();
    JsonNode outcomes = broken.body().get("outcomes");
    int cancelled = outcomes.get("cancelled").asInt();
    assertThat(cancelled).isBetween(1, JOBS - 1);
    assertThat(outcomes.get("unconfirmed").asInt()).isEqualTo(1);
    assertThat(broken.body().get("matched").asInt()).isEqualTo(cancelled + 1);
    assertThat(broken.body().get("items")).hasSize(cancelled + 1);
    assertThat(output.getAll())
        .containsPattern(
            "bea did cancel many to .*type:call.*\\{cancelled="
                + cancelled
                + ", unconfirmed=1\\}, then: ");

    REDIS.start();
    String again = cancel + ",\"cursor\":\"" + broken.body().get("nextCursor").asString() + "\"}";
    eventually()
        .untilAsserted(
            () -> {
              Answer rest = call("POST", "/api/v1/jobs:cancel", again);
              assertThat(rest.status()).as(rest.text()).isEqualTo(200);
            });
    assertThat(delayed("call")).isZero();
  }

  @Test
  void anOperationOfTheConsoleFailsAndShowsWhatItDid() {
    submit("console");
    try (Visitor bea = Visitor.loggedIn(port, "bea")) {
      Map<String, String> form =
          Map.of("q", "app:shop type:console state:delayed", "action", "CANCEL");
      String preview = Visitor.next(bea.post("/console/bulk", form));
      String page = Visitor.next(bea.post(preview + "/begin", Map.of("perSecond", "100")));
      assertThat(bea.get("/console").body()).doesNotContain("These numbers are old");
      killInTheMiddle("console");
      BulkOperation work = bulk.find(page.substring(page.lastIndexOf('/') + 1));
      eventually().until(() -> work.getProgress().over());
      eventually()
          .untilAsserted(
              () ->
                  assertThat(bea.get("/console").body())
                      .contains("These numbers are old", "class=\"cards stale\""));
      assertThat(bea.get("/console/jobs/shop/console/j1").body())
          .contains("Redis does not answer, so this page cannot be shown", "HTTP 503")
          .doesNotContain("took effect");
      assertThat(bea.post("/console/jobs/shop/console/j1/cancel", Map.of()).body())
          .contains("Check whether this took effect")
          .doesNotContain("Nothing was changed");
      assertThat(bea.get("/console/operations").body())
          .containsPattern("<h1[^>]*>No operation of this scheduler is under way; 1 of 1 failed");
      REDIS.start();

      assertThat(work.getProgress().state()).isEqualTo(BulkOperation.State.FAILED);
      int cancelled = work.getProgress().outcomes().getOrDefault("cancelled", 0);
      assertThat(cancelled).isBetween(1, JOBS - 1);
      eventually()
          .untilAsserted(
              () ->
                  assertThat(bea.get(page).body())
                      .contains(
                          "class=\"tag failed\"",
                          "the store did not answer",
                          "<dd>" + cancelled + "</dd>"));
    }
  }
}
