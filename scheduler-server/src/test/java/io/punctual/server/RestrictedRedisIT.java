package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import io.punctual.server.ApiClient.Answer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** A scheduler that has no more rights in Redis than docs/redis.acl gives does all its work. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {
      "eureka.client.enabled=false",
      "spring.data.redis.username=punctual",
      "spring.data.redis.password=secret"
    })
@Tag("full")
class RestrictedRedisIT extends ServerTestBase {

  private static final RedisServer REDIS = start();
  private static final Pattern REFUSED = Pattern.compile("(?m)^object\n(.*)$");

  /** A Redis with the user of docs/redis.acl, whose password is secret. */
  static RedisServer start() {
    RedisServer redis = RedisServer.startTemporary();
    try {
      List<String> user = new ArrayList<>(List.of("ACL", "SETUSER"));
      String line = Files.readString(Path.of("../docs/redis.acl")).strip();
      user.addAll(List.of(line.split(" ")).subList(1, line.split(" ").length));
      user.add(">secret");
      Resp.call(redis.port(), user.toArray(String[]::new));
      return redis;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @DynamicPropertySource
  static void redis(DynamicPropertyRegistry registry) {
    registry.add("spring.data.redis.host", () -> "127.0.0.1");
    registry.add("spring.data.redis.port", REDIS::port);
  }

  @AfterAll
  static void stop() {
    REDIS.close();
  }

  private Answer post(String path, String body) {
    return api.post("/api/v1" + path, body.replace('\'', '"'));
  }

  @Test
  void everyDoorWorksAndNothingElseWasTried() throws IOException {
    for (String id : new String[] {"1", "2", "3"}) {
      assertThat(post("/jobs", job(id, "0s")).status()).isEqualTo(201);
    }
    assertThat(post("/jobs", job("later", "1h")).status()).isEqualTo(201);
    String later = "/api/v1/jobs/shop/a/later";
    assertThat(api.patch(later, "{\"params\":\"x\",\"delay\":\"2h\"}").status()).isEqualTo(200);
    assertThat(api.get("/api/v1/jobs?application=shop&tag=t").body().get("items")).hasSize(4);

    Answer claimed = post("/claims", "{'application':'shop','taskTypes':['a'],'max':3}");
    assertThat(claimed.status()).as(claimed.text()).isEqualTo(200);
    String[] ends = {"ack", "reject", "nack"};
    for (int i = 0; i < ends.length; i++) {
      String token = claimed.at("/jobs/" + i + "/token");
      assertThat(post("/claims/" + token + "/extend", "{}").status()).isEqualTo(200);
      assertThat(post("/claims/" + token + "/" + ends[i], "{}").status()).isEqualTo(200);
    }
    String all = "{'application':'shop','taskType':'a','state':'%s'}";
    assertThat(post("/jobs:requeue", all.replace("%s", "dead")).at("/matched")).isEqualTo("1");
    assertThat(post("/jobs:cancel", all.replace("%s", "delayed")).at("/matched")).isEqualTo("3");

    assertThat(post("/queues/shop/a/pause", "").status()).isEqualTo(200);
    assertThat(post("/applications/shop/pause", "").status()).isEqualTo(200);
    assertThat(post("/applications/shop/resume", "").status()).isEqualTo(200);
    assertThat(post("/queues/shop/a/resume", "").status()).isEqualTo(200);
    assertThat(
            api.call(
                    "PUT",
                    "/api/v1/queues/shop/a/limits",
                    "application/json",
                    java.net.http.HttpRequest.BodyPublishers.ofString("{\"rate\":\"100/s\"}"))
                .status())
        .isEqualTo(200);
    assertThat(api.get("/api/v1/forecast?application=shop").status()).isEqualTo(200);
    Awaitility.await()
        .untilAsserted(
            () ->
                assertThat(api.get("/api/v1/history").body().get("marks"))
                    .extracting(mark -> mark.get("kind").asString())
                    .contains("start", "pause"));

    Awaitility.await()
        .atMost(Duration.ofSeconds(40))
        .until(() -> api.get("/actuator/health").at("/components/store/status").equals("UP"));
    assertThat(api.get("/actuator/health").status()).isEqualTo(200);
    assertThat(api.get("/api/v1/store").at("/nodes/0/persistence")).isEqualTo("log");
    assertThat(
            REFUSED
                .matcher(Resp.call(REDIS.port(), "ACL", "LOG"))
                .results()
                .map(entry -> entry.group(1)))
        .allMatch(object -> object.matches("config.*|client.*"));
  }

  private static String job(String id, String delay) {
    return "{'application':'shop','taskType':'a','taskId':'%s','delay':'%s','tags':['t']}"
        .formatted(id, delay);
  }
}
