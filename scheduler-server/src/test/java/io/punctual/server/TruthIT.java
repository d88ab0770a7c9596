package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.RedisServer;
import io.punctual.server.ApiClient.Answer;
import io.punctual.server.health.QueueHealth;
import io.punctual.server.metrics.ShortSampling;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Console, API, metrics, alerts, health and doctor say the same of each state that a queue, a job
 * or Redis can be brought into.
 */
@Import(ShortSampling.class)
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {
      "eureka.client.enabled=false",
      "punctual.dispatch.circuit.failures=20",
      "punctual.dispatch.allowed-networks=127.0.0.0/8"
    })
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("full")
class TruthIT extends ServerTestBase {

  private static final JsonMapper JSON = new JsonMapper();
  private static final String TYPE = "order.close";
  private static final RedisServer REDIS = RedisServer.startTemporary();
  private static final StreamingWorker WORKER = worker();
  private static final CountDownLatch FREE = new CountDownLatch(1);

  /** The gauges that are 1 while a queue is in a state. */
  private static final List<String> GAUGES = List.of("parked", "paused", "circuit_open", "failing");

  private static final String NONE = "";

  @Autowired private RedisConnectionFactory connections;
  private Prometheus prometheus;
  private Properties words;

  /**
   * What is said of a queue, named after the state that it is in.
   *
   * @param state the API's word, and which of the console's it has
   * @param reason why a due job of it waits; empty where none is due
   * @param gauges those that are 1
   * @param overview which finding the overview has; empty for none
   * @param doctor which finding the doctor has of its application; empty for none
   * @param alerts whose condition holds
   */
  private record Truth(
      String application,
      String state,
      String reason,
      Set<String> gauges,
      String overview,
      String doctor,
      Set<String> alerts) {

    @Override
    public String toString() {
      return application;
    }
  }

  private static Stream<Truth> truths() {
    Set<String> no = Set.of();
    Set<String> parked = Set.of("parked");
    Set<String> noWorker = Set.of("PunctualQueueParked");
    return Stream.of(
        new Truth("well", "well", NONE, no, NONE, NONE, no),
        new Truth("pulled", "late", "behind", no, "late", "late", no),
        new Truth("limited", "late", "limited", no, "late", "late", no),
        new Truth("unserved", "unserved", "unserved", parked, "unserved", "unserved", noWorker),
        new Truth("busy", "late", "behind", no, "late", "late", no),
        new Truth("unreached", "parked", "parked", parked, "parked", "parked", noWorker),
        new Truth(
            "broken",
            "circuits",
            "circuits",
            Set.of("circuit_open"),
            "circuits",
            "circuits",
            Set.of("PunctualCircuitOpen")),
        new Truth(
            "failing",
            "failing",
            NONE,
            Set.of("failing"),
            "failing",
            "failing",
            Set.of("PunctualJobsFail")),
        new Truth("paused", "paused", "paused", Set.of("paused"), "paused", "paused", no),
        new Truth("closed", "closed", "closed", Set.of("paused"), NONE, NONE, no),
        new Truth("damaged", "damaged", NONE, no, "damaged", "damaged", no),
        new Truth("dead", "well", NONE, no, "dead", NONE, Set.of("PunctualJobsDead")));
  }

  private static StreamingWorker worker() {
    try {
      return new StreamingWorker();
    } catch (IOException e) {
      throw new AssertionError("no port", e);
    }
  }

  @DynamicPropertySource
  static void system(DynamicPropertyRegistry registry) {
    registry.add("spring.data.redis.host", () -> "127.0.0.1");
    registry.add("spring.data.redis.port", REDIS::port);
    for (String application :
        List.of("well", "limited", "busy", "broken", "failing", "paused", "closed", "dead")) {
      instance(registry, application, 0, WORKER.port(), "batch");
    }
    String instances = "spring.cloud.discovery.client.simple.instances.";
    registry.add(instances + "busy[0].metadata[punctual.concurrency]", () -> "1");
    // Not called: it is in no allowed network.
    instance(registry, "unreached", 0, 1, "batch");
    registry.add(instances + "unreached[0].uri", () -> "http://10.0.0.1:8081");
  }

  @BeforeAll
  void bringAbout(@TempDir Path directory) throws Exception {
    words = new Properties();
    try (InputStream in = QueueHealth.class.getResourceAsStream("../console/messages.properties")) {
      words.load(in);
    }
    api = new ApiClient(port);
    prometheus = new Prometheus(port, directory);
    answers("well", job -> true, CallbackResult.REJECT);
    answers("limited", job -> true, CallbackResult.REJECT);
    answers("dead", job -> job.taskId().equals("done"), CallbackResult.REJECT);
    answers("broken", job -> false, CallbackResult.RETRY);
    answers(
        "failing",
        job -> Integer.parseInt(job.taskId().substring(1)) % 4 > 0,
        CallbackResult.RETRY);
    WORKER.on("/callback/busy", (request, out) -> FREE.await());

    submit("well", "j", 1, "1h", "");
    submit("dead", "done", 1, "0s", "");
    submit("unserved", "j", 3, "0s", "");
    submit("unreached", "j", 3, "0s", "");
    submit("busy", "j", 3, "0s", ",\"timeToRun\":\"10m\"");
    submit("broken", "j", 60, "0s", ",\"retry\":\"10ms;attempts=1000\"");
    submit("failing", "first", 1, "1h", "");
    submit("damaged", "j", 1, "1h", "");
    submit("pulled", "j", 3, "0s", "");
    for (String held : List.of("limited", "paused", "closed")) {
      submit(held, "first", 1, "1h", "");
    }
    ok(call("PUT", "limited/" + TYPE + "/limits", "{\"rate\":\"1/h\"}"));
    ok(call("POST", "paused/" + TYPE + "/pause", ""));
    ok(call("PUT", "closed/" + TYPE + "/hours", "{\"window\":\"" + laterToday() + "\"}"));
    for (String held : List.of("limited", "paused", "closed")) {
      submit(held, "j", 3, "0s", "");
    }
    assertThat(claim().at("/jobs/0/taskId")).startsWith("j");
    try (RedisConnection connection = connections.getConnection()) {
      connection
          .stringCommands()
          .set(
              ("punctual:{damaged:" + TYPE + ":0}:delayed").getBytes(StandardCharsets.UTF_8),
              "x".getBytes(StandardCharsets.UTF_8));
    }
    eventually().until(() -> prometheus.series("punctual_jobs_dead_total{application='dead'}") > 0);
    submit("dead", "j", 1, "0s", "");
    eventually().until(() -> gauge("failing", "jobs") != null);
    submit("failing", "j", 40, "0s", ",\"retry\":\"1h,1h\"");
  }

  @AfterAll
  void end() {
    FREE.countDown();
    prometheus.close();
    WORKER.close();
    REDIS.close();
  }

  /** An hour of the day, by UTC, that begins in some hours. */
  private static String laterToday() {
    int hour = (ZonedDateTime.now(ZoneOffset.UTC).getHour() + 6) % 23;
    return "%02d:00-%02d:00".formatted(hour, hour + 1);
  }

  private static void answers(
      String application, Predicate<CallbackRequest.Job> done, String otherwise) {
    WORKER.on(
        "/callback/" + application,
        (request, out) -> {
          for (CallbackRequest.Job job : request.jobs()) {
            CallbackResult result =
                new CallbackResult(
                    job.taskId(),
                    job.incarnation(),
                    done.test(job) ? CallbackResult.DONE : otherwise,
                    null,
                    "a test's",
                    null);
            out.write((JSON.writeValueAsString(result) + "\n").getBytes(StandardCharsets.UTF_8));
          }
        });
  }

  private void submit(String application, String id, int count, String delay, String more) {
    List<String> jobs = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      jobs.add(
          "{\"application\":\"%s\",\"taskType\":\"%s\",\"taskId\":\"%s\",\"delay\":\"%s\"%s}"
              .formatted(application, TYPE, id.length() > 1 ? id : id + i, delay, more));
    }
    Answer batch = api.post("/api/v1/jobs/batch", "{\"jobs\":[" + String.join(",", jobs) + "]}");
    ok(batch);
    assertThat(batch.text()).doesNotContain("problem");
  }

  private Answer claim() {
    return api.post(
        "/api/v1/claims",
        "{\"application\":\"pulled\",\"taskTypes\":[\"%s\"],\"max\":1,\"timeToRun\":\"10m\"}"
            .formatted(TYPE));
  }

  private Answer call(String method, String path, String json) {
    return api.call(method, "/api/v1/queues/" + path, json, "");
  }

  private static void ok(Answer answer) {
    assertThat(answer.status()).as(answer.text()).isBetween(200, 299);
  }

  private static ConditionFactory eventually() {
    return Awaitility.await().dontCatchUncaughtExceptions().atMost(Duration.ofSeconds(30));
  }

  private String word(String key) {
    return words.getProperty(key);
  }

  @ParameterizedTest
  @MethodSource("truths")
  @Order(1)
  void allSayTheSameOfAQueue(Truth truth) {
    eventually().untilAsserted(() -> assertThat(said(truth)).isEqualTo(expected(truth)));
  }

  private Map<String, Object> expected(Truth truth) {
    Map<String, Object> expected = new TreeMap<>();
    expected.put("API", truth.state());
    expected.put("console, why a due job waits", truth.reason());
    expected.put("console, queue", word("health." + truth.state()));
    expected.put("console, list", Set.of(truth.state()));
    expected.put("console, overview", truth.overview());
    expected.put("doctor", truth.doctor());
    expected.put("metrics", truth.gauges());
    expected.put("alerts", truth.alerts());
    return expected;
  }

  private Map<String, Object> said(Truth truth) throws Exception {
    String application = truth.application();
    if (application.equals("pulled")) {
      // A worker that goes on to ask, and has no room for more.
      ok(api.post("/api/v1/claims", "{\"application\":\"pulled\",\"taskTypes\":[\"other\"]}"));
    }
    String path = "/queues/" + application + "/" + TYPE;
    Map<String, Object> said = new TreeMap<>();
    said.put("API", api.get("/api/v1" + path).at("/state"));
    said.put(
        "console, why a due job waits",
        truth.reason().isEmpty() ? NONE : why("/jobs/" + application + "/" + TYPE + "/j2"));
    String page = page(path);
    said.put("console, queue", tag(page));
    Set<String> listed = new TreeSet<>();
    for (String state : QueueHealth.states()) {
      if (page("/queues?state=" + state).contains("href=\"/console" + path + "\"")) {
        listed.add(state);
      }
    }
    said.put("console, list", listed);
    said.put("console, overview", overview("/console" + path));
    said.put("doctor", doctor(application));
    Set<String> gauges = gauges(application);
    Set<String> alerts = prometheus.alerts().getOrDefault(application, new TreeSet<>());
    if (truth.state().equals("circuits")) {
      // No instance is free for its jobs but while one probes.
      gauges.remove("parked");
      alerts.remove("PunctualQueueParked");
    }
    if (!truth.gauges().contains("paused")) {
      // They hold once it has taken long enough, and never where nobody is to be woken.
      alerts.removeAll(Set.of("PunctualJobsWait", "PunctualJobsLate"));
    }
    said.put("metrics", gauges);
    said.put("alerts", alerts);
    return said;
  }

  private String why(String job) throws Exception {
    String page = page(job);
    return words.stringPropertyNames().stream()
        .filter(key -> key.startsWith("why.") && page.contains(word(key)))
        .map(key -> key.substring("why.".length()))
        .collect(Collectors.joining(","));
  }

  private static String tag(String page) {
    Matcher tag = Pattern.compile("<span class=\"tag[^>]*>([^<]*)</span>").matcher(page);
    return tag.find() ? tag.group(1) : NONE;
  }

  /** Which finding the overview has about a queue: the one whose text begins as that. */
  private String overview(String path) throws Exception {
    Matcher list =
        Pattern.compile("<li class=\"(?:bad|warn)\">(.*?)</li>", Pattern.DOTALL).matcher(page(""));
    Set<String> found = new TreeSet<>();
    while (list.find()) {
      String line = list.group(1);
      if (line.contains("href=\"" + path + "\"")) {
        for (String code :
            List.of("late", "unserved", "parked", "circuits", "failing", "paused", "damaged")) {
          if (line.contains(fixedPart(word("finding." + code)))) {
            found.add(code);
          }
        }
        if (line.contains("href=\"/console/dead\"")) {
          found.add("dead");
        }
      }
    }
    return String.join(",", found);
  }

  /** The longest part of a message without a placeholder. */
  private static String fixedPart(String message) {
    return Stream.of(message.split("\\{[^{}]*(\\{[^{}]*\\}[^{}]*)*\\}"))
        .max(Comparator.comparingInt(String::length))
        .orElseThrow();
  }

  private String doctor(String application) {
    Set<String> found = new TreeSet<>();
    for (JsonNode check :
        api.get("/api/v1/doctor?application=" + application).body().get("checks")) {
      String name = check.get("name").asString();
      // What is said of its instances is another truth.
      if (!check.get("status").asString().equals("ok") && !name.startsWith("worker")) {
        found.add(name);
      }
    }
    return String.join(",", found);
  }

  private Set<String> gauges(String application) {
    Set<String> gauges = new TreeSet<>();
    for (String gauge : GAUGES) {
      if ("1.0".equals(gauge(application, gauge))) {
        gauges.add(gauge);
      }
    }
    return gauges;
  }

  private @Nullable String gauge(String application, String name) {
    return metric("punctual_queue_" + name + "{application=\"" + application + "\"");
  }

  private @Nullable String metric(String start) {
    return api.get("/actuator/prometheus")
        .text()
        .lines()
        .filter(line -> line.startsWith(start))
        .map(line -> line.substring(line.lastIndexOf(' ') + 1))
        .findFirst()
        .orElse(null);
  }

  @Test
  @Order(2)
  void healthSaysWhatIsWrongWithQueuesAndStaysUp() {
    Answer health = api.get("/actuator/health");

    assertThat(health.status()).isEqualTo(200);
    assertThat(health.at("/components/circuits/status")).isEqualTo("WARNING");
    assertThat(health.at("/components/scanners/status")).isEqualTo("WARNING");
    eventually().until(() -> "1.0".equals(metric("punctual_queues_damaged")));
    eventually().until(() -> prometheus.alerts().get(NONE).contains("PunctualQueueDamaged"));
  }

  @ParameterizedTest
  @CsvSource({
    "well, j0, delayed, not_due",
    "paused, j0, ready, ready",
    "busy, j0, reserved, reserved",
    "dead, j0, dead, dead",
    "dead, done, finished, ",
    "well, cancelled, cancelled, "
  })
  @Order(3)
  void allSayTheSameOfAJob(String application, String id, String state, @Nullable String counted)
      throws Exception {
    if (id.equals("cancelled")) {
      submit("well", id, 1, "1h", "");
      ok(api.delete("/api/v1/jobs/well/" + TYPE + "/" + id));
    }
    String path = "/jobs/" + application + "/" + TYPE + "/" + id;
    // To the API, what is due is delayed, too.
    String known = state.equals("ready") ? "delayed" : state;
    eventually().until(() -> api.get("/api/v1" + path).at("/state").equals(known));
    assertThat(tag(page(path))).isEqualTo(word("state." + state));
    assertThat(
            page(
                "/jobs?q=app:"
                    + application
                    + "+type:"
                    + TYPE
                    + "+state:"
                    + (counted == null ? "delayed" : state)))
        .matches(list -> list.contains("href=\"/console" + path + "\"") == (counted != null));
    if (counted != null) {
      String gauge =
          "punctual_queue_jobs{application=\""
              + application
              + "\",state=\""
              + counted
              + "\",task_type=\""
              + TYPE;
      Answer queue = api.get("/api/v1/queues/" + application + "/" + TYPE);
      eventually()
          .untilAsserted(
              () ->
                  assertThat(Double.parseDouble(String.valueOf(metric(gauge))))
                      .isEqualTo(
                          queue
                              .body()
                              .get(counted.equals("not_due") ? "notDue" : counted)
                              .asDouble()));
    }
  }

  @Test
  @Order(4)
  void eachQueryOfTheDashboardHasAnAnswer() throws IOException {
    JsonNode dashboard =
        JSON.readTree(
            Files.readString(Path.of("../deploy/observability/grafana/dashboards/punctual.json")));
    List<String> empty = new ArrayList<>();
    for (JsonNode panel : dashboard.get("panels")) {
      for (JsonNode target : panel.path("targets")) {
        String query =
            target
                .get("expr")
                .asString()
                .replace("$application", ".*")
                .replace("$task_type", ".*")
                .replace("$__rate_interval", "1m");
        if (prometheus.series(query) == 0) {
          empty.add(panel.get("title").asString());
        }
      }
    }
    // No registry is in use.
    assertThat(empty).containsExactly("Age of the view of the registry");
  }

  @Test
  @Order(5)
  void allSayThatRedisIsAwayAndThatItIsBack() throws Exception {
    REDIS.kill();
    eventually().untilAsserted(() -> assertThat(saidOfRedis()).isEqualTo("away".repeat(6)));
    assertThat(api.get("/actuator/health/readiness").at("/status")).isEqualTo("UP");
    REDIS.start();
    eventually().untilAsserted(() -> assertThat(saidOfRedis()).isEqualTo("there".repeat(6)));
  }

  private String saidOfRedis() throws Exception {
    Answer submitted =
        api.post(
            "/api/v1/jobs",
            "{\"application\":\"well\",\"taskType\":\"%s\",\"taskId\":\"j0\",\"delay\":\"1h\"}"
                .formatted(TYPE));
    String overview = page("");
    return Stream.of(
            submitted.status() == 503,
            overview.contains(fixedPart(word("finding.redis"))) && overview.contains(word("stale")),
            api.get("/actuator/health").at("/components/store/status").equals("DOWN"),
            "0.0".equals(metric("punctual_store_up")),
            prometheus.alerts().getOrDefault(NONE, Set.of()).contains("PunctualStoreDown"),
            api.get("/api/v1/doctor").text().contains("Redis does not answer"))
        .map(away -> away ? "away" : "there")
        .reduce("", String::concat);
  }
}
