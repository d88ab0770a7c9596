package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.ApiClient.Answer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.data.redis.connection.RedisConnection;
import tools.jackson.databind.JsonNode;

/** Bulk calls over many pages, in a queue of two buckets. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {
      "spring.profiles.active=closed",
      "eureka.client.enabled=false",
      "punctual.buckets=2",
      "punctual.security.signing-keys=" + BulkIT.KEY,
      "punctual.security.operators.bea.password=" + BulkIT.HASH,
      "punctual.security.operators.bea.role=admin"
    })
class BulkIT extends SharedRedisTestBase {

  static final String KEY = "Vb8s0qKfT2mYc1xN7wLhR4zJ6pD9gE3uAo5iS0kQ";
  static final String HASH = "{bcrypt}$2a$04$vtWr23JHb1SyCtcvd1rAwOoEjbRrBRCjIXusEoEJqV9LWyADVHB12";
  private static final String ADMIN =
      "Basic "
          + Base64.getEncoder()
              .encodeToString("bea:correct horse battery".getBytes(StandardCharsets.UTF_8));

  /** More pages than any of these operations needs. */
  private static final int MANY_PAGES = 30;

  private final String type = "t-" + UUID.randomUUID().toString().substring(0, 8);
  private final List<byte[]> damaged = new ArrayList<>();

  @AfterEach
  void repair() {
    try (RedisConnection connection = connections.getConnection()) {
      damaged.forEach(key -> connection.keyCommands().del(key));
    }
  }

  private Answer call(String method, String path, String json) {
    return api.call(method, path, json, ADMIN);
  }

  private void submit(int count, String time) {
    String jobs =
        IntStream.range(0, count)
            .mapToObj(
                i ->
                    "{\"application\":\"shop\",\"taskType\":\"%s\",\"taskId\":\"j%d\",%s}"
                        .formatted(type, i, time))
            .collect(Collectors.joining(","));
    Answer answer = call("POST", "/api/v1/jobs/batch", "{\"jobs\":[" + jobs + "]}");
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    for (JsonNode result : answer.body().get("results")) {
      assertThat(result.get("status").asInt()).as(result.toString()).isEqualTo(201);
    }
  }

  private void submitOne(String delay) {
    String job =
        "{\"application\":\"shop\",\"taskType\":\"%s\",\"taskId\":\"%s\",\"delay\":\"%s\"}"
            .formatted(type, UUID.randomUUID(), delay);
    assertThat(call("POST", "/api/v1/jobs", job).status()).isEqualTo(201);
  }

  /** All pages of a bulk call: the outcome of each job, as often as it has one. */
  private List<String> pages(String action, String filter, int limit, Runnable between) {
    List<String> outcomes = new ArrayList<>();
    String cursor = null;
    for (int page = 0; page < MANY_PAGES; page++) {
      Answer answer =
          call(
              "POST",
              "/api/v1/jobs:" + action,
              "{\"application\":\"shop\",\"taskType\":\"%s\",\"limit\":%d%s%s}"
                  .formatted(
                      type, limit, filter, cursor == null ? "" : ",\"cursor\":\"" + cursor + "\""));
      assertThat(answer.status()).as(answer.text()).isEqualTo(200);
      for (JsonNode item : answer.body().get("items")) {
        outcomes.add(item.get("taskId").asString() + " " + item.get("outcome").asString());
      }
      JsonNode next = answer.body().get("nextCursor");
      if (next.isNull()) {
        return outcomes;
      }
      cursor = next.asString();
      between.run();
    }
    throw new AssertionError("not at the end after " + outcomes.size() + " outcomes");
  }

  private static List<String> each(int count, String outcome) {
    return IntStream.range(0, count).mapToObj(i -> "j" + i + " " + outcome).toList();
  }

  private Set<String> dueTimes() {
    Set<String> times = new HashSet<>();
    String cursor = "";
    do {
      Answer page =
          call(
              "GET",
              "/api/v1/jobs?application=shop&limit=500&state=delayed&taskType=" + type + cursor,
              "");
      page.body().get("items").forEach(job -> times.add(job.get("dueAt").asString()));
      cursor = page.at("/nextCursor").isEmpty() ? "" : "&cursor=" + page.at("/nextCursor");
    } while (!cursor.isEmpty());
    return times;
  }

  @Test
  void aRescheduleByADelayMovesEachJobOnceToOneInstant() {
    submit(500, "\"delay\":\"1m\"");

    assertThat(pages("reschedule", ",\"state\":\"delayed\",\"delay\":\"10m\"", 200, () -> {}))
        .containsExactlyInAnyOrderElementsOf(each(500, "rescheduled"));
    assertThat(dueTimes()).hasSize(1);
  }

  @Test
  void aRescheduleToAnInstantMovesEachJobOnceAndCanBeRepeated() {
    submit(500, "\"delay\":\"1m\"");
    String filter = ",\"state\":\"delayed\",\"dueAt\":\"2031-01-01T00:00:00Z\"";

    assertThat(pages("reschedule", filter, 200, () -> {}))
        .containsExactlyInAnyOrderElementsOf(each(500, "rescheduled"));
    assertThat(dueTimes()).containsExactly("2031-01-01T00:00:00Z");
    assertThat(pages("reschedule", filter, 200, () -> {})).isEmpty();
  }

  @Test
  void jobsThatAreLaterThanTheNewTimeAreMovedToo() {
    submit(300, "\"delay\":\"2h\"");

    assertThat(pages("reschedule", ",\"state\":\"delayed\",\"delay\":\"1h\"", 200, () -> {}))
        .containsExactlyInAnyOrderElementsOf(each(300, "rescheduled"));
  }

  @Test
  void jobsThatAreSubmittedMeanwhileAreNotMoved() {
    submit(250, "\"delay\":\"1m\"");

    assertThat(
            pages(
                "reschedule",
                ",\"state\":\"delayed\",\"delay\":\"10m\"",
                100,
                () -> submitOne("5m")))
        .containsExactlyInAnyOrderElementsOf(each(250, "rescheduled"));
  }

  /** Claims all that is due and rejects it. */
  private void reject() {
    String claim = "{\"application\":\"shop\",\"taskTypes\":[\"" + type + "\"],\"max\":200}";
    Answer claimed = call("POST", "/api/v1/claims", claim);
    while (claimed.status() == 200) {
      for (JsonNode job : claimed.body().get("jobs")) {
        String path = "/api/v1/claims/" + job.get("token").asString() + "/reject";
        assertThat(call("POST", path, "{}").status()).isEqualTo(200);
      }
      claimed = call("POST", "/api/v1/claims", claim);
    }
  }

  @Test
  void aDeadLetterThatDiesAgainMeanwhileIsRequeuedOnce() {
    submit(30, "\"delay\":0");
    reject();

    assertThat(pages("requeue", ",\"state\":\"dead\"", 10, this::reject))
        .containsExactlyInAnyOrderElementsOf(each(30, "requeued"));
  }

  @Test
  void whatDiesMeanwhileIsNotPurged() {
    submit(30, "\"delay\":0");
    reject();

    assertThat(
            pages(
                "purge",
                ",\"state\":\"dead\"",
                10,
                () -> {
                  submitOne("0s");
                  reject();
                }))
        .containsExactlyInAnyOrderElementsOf(each(30, "purged"));
  }

  @Test
  void allQueuesThatMatchAreDealtWithOfAllApplicationsIfTheCallSaysSo() {
    String tag = type + "-tag";
    String job =
        "{\"application\":\"%s\",\"taskType\":\"%s\",\"taskId\":\"j\",\"tags\":[\"%s\"],\"delay\":\"1h\"}";
    for (String queue : List.of("shop " + type, "shop " + type + "x", "bank " + type)) {
      String[] names = queue.split(" ", -1);
      Answer submitted = call("POST", "/api/v1/jobs", job.formatted(names[0], names[1], tag));
      assertThat(submitted.status()).as(submitted.text()).isEqualTo(201);
    }
    damaged.add(damage("bank", type + "y"));
    String search = "{\"application\":\"*\",\"tag\":\"" + tag + "\",\"state\":\"delayed\"";

    Answer dry = call("POST", "/api/v1/jobs:cancel", search + ",\"dryRun\":true}");
    assertThat(dry.body().at("/outcomes").toString()).isEqualTo("{\"cancelled\":3}");
    assertThat(dry.body().at("/damaged").toString()).isEqualTo("[\"bank/" + type + "y\"]");

    List<String> outcomes = new ArrayList<>();
    String cursor = "";
    do {
      Answer page = call("POST", "/api/v1/jobs:cancel", search + ",\"limit\":1" + cursor + "}");
      assertThat(page.status()).as(page.text()).isEqualTo(200);
      page.body()
          .get("items")
          .forEach(
              item ->
                  outcomes.add(
                      item.get("application").asString()
                          + " "
                          + item.get("taskType").asString()
                          + " "
                          + item.get("outcome").asString()));
      cursor =
          page.at("/nextCursor").isEmpty() ? "" : ",\"cursor\":\"" + page.at("/nextCursor") + "\"";
    } while (!cursor.isEmpty());
    assertThat(outcomes)
        .containsExactly(
            "bank " + type + " cancelled",
            "shop " + type + " cancelled",
            "shop " + type + "x cancelled");

    for (String refused :
        List.of(
            "{\"state\":\"dead\"}",
            "{\"application\":\"*\"}",
            "{\"application\":\"*\",\"taskType\":\"a\",\"taskIds\":[\"j\"]}")) {
      assertThat(call("POST", "/api/v1/jobs:purge", refused).status()).as(refused).isEqualTo(400);
    }
  }

  private Answer act(String action, String rest) {
    return call(
        "POST",
        "/api/v1/jobs:" + action,
        "{\"application\":\"shop\",\"taskType\":\"%s\"%s}".formatted(type, rest));
  }

  @Test
  void theCancelsOfAnOperationAreUndoneTogetherAndNoOthers() {
    submit(300, "\"delay\":\"1h\",\"params\":\"as it was\"");
    String named = ",\"operation\":\"clean-" + type + "\"";
    assertThat(act("cancel", ",\"taskIds\":[\"j299\"]").status()).isEqualTo(200);
    assertThat(pages("cancel", ",\"state\":\"delayed\"" + named, 100, () -> {}))
        .containsExactlyInAnyOrderElementsOf(each(299, "cancelled"));
    String job =
        "{\"application\":\"shop\",\"taskType\":\"%s\",\"taskId\":\"j0\",\"delay\":\"2h\"}";
    assertThat(call("POST", "/api/v1/jobs", job.formatted(type)).status()).isEqualTo(201);
    String one = "/api/v1/jobs/shop/" + type + "/j1";
    assertThat(call("POST", one + "/restore", "").status()).isEqualTo(200);

    Answer dry = act("restore", named + ",\"dryRun\":true");
    assertThat(dry.body().at("/outcomes").toString())
        .isEqualTo("{\"already_restored\":1,\"exists\":1,\"restored\":297}");
    assertThat(call("GET", "/api/v1/jobs/shop/" + type + "/j2", "").at("/state"))
        .isEqualTo("cancelled");

    List<String> expected = each(299, "restored");
    List<String> mixed = new ArrayList<>(expected.subList(2, 299));
    mixed.add("j0 exists");
    mixed.add("j1 already_restored");
    assertThat(pages("restore", named, 100, () -> {})).containsExactlyInAnyOrderElementsOf(mixed);
    Answer there = call("GET", "/api/v1/jobs/shop/" + type + "/j2", "");
    assertThat(there.at("/state")).isEqualTo("delayed");
    assertThat(there.at("/params")).isEqualTo("as it was");
    assertThat(call("GET", "/api/v1/jobs/shop/" + type + "/j299", "").at("/state"))
        .isEqualTo("cancelled");
    // The same again changes nothing.
    assertThat(act("restore", named).body().at("/outcomes").toString())
        .isEqualTo("{\"already_restored\":298,\"exists\":1}");
    assertThat(act("restore", ",\"operation\":\"none\"").body().at("/matched").asInt()).isZero();

    String ids = ",\"taskIds\":[\"j299\",\"j2\",\"never\"]";
    assertThat(act("restore", ids + ",\"dryRun\":true").body().at("/outcomes").toString())
        .isEqualTo("{\"exists\":1,\"restored\":1,\"unknown\":1}");
    Answer restored = act("restore", ids);
    assertThat(restored.body().at("/outcomes/unknown").asInt()).isEqualTo(1);
    assertThat(call("GET", "/api/v1/jobs/shop/" + type + "/j299", "").at("/state"))
        .isEqualTo("delayed");
    JsonNode entry = call("GET", "/api/v1/audit?limit=1", "").body().at("/items/0");
    assertThat(entry.get("action").asString()).isEqualTo("restore many");
  }

  @Test
  void anUndoReachesAllApplicationsAndLeavesOutDamagedQueues() {
    String operation = "\"operation\":\"all-" + type + "\"";
    for (String application : List.of("shop", "bank")) {
      String job = "{\"application\":\"%s\",\"taskType\":\"%s\",\"taskId\":\"j\",\"delay\":\"1h\"}";
      assertThat(call("POST", "/api/v1/jobs", job.formatted(application, type)).status())
          .isEqualTo(201);
      String cancel =
          "{\"application\":\"%s\",\"taskType\":\"%s\",\"state\":\"delayed\",%s}"
              .formatted(application, type, operation);
      assertThat(call("POST", "/api/v1/jobs:cancel", cancel).at("/matched")).isEqualTo("1");
    }
    byte[] bad = damage("bank", type + "y");
    damaged.add(bad);
    try (RedisConnection connection = connections.getConnection()) {
      byte[] cancelled =
          (prefix + ":{bank:" + type + "y:0}:cancelled").getBytes(StandardCharsets.UTF_8);
      connection.stringCommands().set(cancelled, "x".getBytes(StandardCharsets.UTF_8));
      damaged.add(cancelled);
    }
    List<String> restored = new ArrayList<>();
    String cursor = "";
    Answer page;
    do {
      page =
          call(
              "POST",
              "/api/v1/jobs:restore",
              "{\"application\":\"*\",\"limit\":1," + operation + cursor + "}");
      assertThat(page.status()).as(page.text()).isEqualTo(200);
      page.body()
          .get("items")
          .forEach(
              item ->
                  restored.add(
                      item.get("application").asString() + " " + item.get("outcome").asString()));
      cursor = ",\"cursor\":\"" + page.at("/nextCursor") + "\"";
    } while (!page.at("/nextCursor").isEmpty());
    assertThat(restored).containsExactly("bank restored", "shop restored");
    Answer whole =
        call("POST", "/api/v1/jobs:restore", "{\"application\":\"*\"," + operation + "}");
    assertThat(whole.body().at("/damaged").toString()).contains("bank/" + type + "y");
  }

  /** Makes a queue whose keys cannot be read. */
  private byte[] damage(String application, String taskType) {
    String job = "{\"application\":\"%s\",\"taskType\":\"%s\",\"delay\":\"1h\"}";
    assertThat(call("POST", "/api/v1/jobs", job.formatted(application, taskType)).status())
        .isEqualTo(201);
    byte[] key =
        (prefix + ":{" + application + ":" + taskType + ":0}:tags")
            .getBytes(StandardCharsets.UTF_8);
    try (RedisConnection connection = connections.getConnection()) {
      connection.stringCommands().set(key, "x".getBytes(StandardCharsets.UTF_8));
    }
    return key;
  }

  @Test
  void aBulkCallThatBreaksTellsWhatItDidAndIsAudited() {
    submit(20, "\"delay\":\"1h\"");
    byte[] key = (prefix + ":{shop:" + type + ":1}:errors").getBytes(StandardCharsets.UTF_8);
    damaged.add(key);
    try (RedisConnection connection = connections.getConnection()) {
      connection.stringCommands().set(key, "x".getBytes(StandardCharsets.UTF_8));
    }
    String ids =
        IntStream.range(0, 20).mapToObj(i -> "\"j" + i + "\"").collect(Collectors.joining(","));

    Answer answer =
        call(
            "POST",
            "/api/v1/jobs:cancel",
            "{\"application\":\"shop\",\"taskType\":\"%s\",\"taskIds\":[%s]}".formatted(type, ids));

    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    int cancelled = answer.body().at("/outcomes/cancelled").asInt();
    assertThat(cancelled).isBetween(1, 19);
    assertThat(answer.body().at("/outcomes/damaged").asInt()).isEqualTo(20 - cancelled);
    JsonNode entry = call("GET", "/api/v1/audit?limit=1", "").body().at("/items/0");
    assertThat(entry.get("action").asString()).isEqualTo("cancel many");
    assertThat(entry.get("after").asString()).contains("cancelled=" + cancelled);
  }
}
