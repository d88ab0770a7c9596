package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import io.punctual.server.ApiClient.Answer;
import io.punctual.server.health.QueueHealth;
import io.punctual.server.metrics.ShortSampling;
import io.punctual.wire.CallbackRefusal;
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

  /**
   * What is said of an instance.
   *
   * @param state the API's word
   * @param probe what its last probe found
   * @param doctor the doctor's checks of the application's instances that are not ok
   * @param failing whether its metric says that 10 % of its attempts fail
   */
  private record InstanceTruth(
      String application, String state, String probe, Set<String> doctor, boolean failing) {

    @Override
    public String toString() {
      return application;
    }
  }

  private static Stream<InstanceTruth> instanceTruths() {
    Set<String> no = Set.of();
    Set<String> fails = Set.of("workers warning");
    Set<String> away = Set.of("workers problem", "worker problem");
    Set<String> look = Set.of("workers warning", "worker warning");
    return Stream.of(
        new InstanceTruth("well", "well", "reached", no, false),
        // All of its places are taken.
        new InstanceTruth("busy", "well", "reached", no, false),
        new InstanceTruth("failing", "failing", "reached", fails, true),
        new InstanceTruth("broken", "failing", "reached", fails, true),
        new InstanceTruth("unreached", "problem", "address-not-allowed", away, false),
        new InstanceTruth("gone", "problem", "connection-refused", away, false),
        new InstanceTruth("keyed", "problem", "scheduler-without-key", away, false),
        new InstanceTruth("draining", "warning", "unavailable", look, false),
        new InstanceTruth("overloaded", "avoided", "reached", look, false));
  }

  /**
   * What is said of Redis.
   *
   * @param name what the report of the test calls it
   * @param commands that bring it about
   * @param submitted the status of a submit
   * @param health of its component
   * @param sound what the metric says
   * @param alerts whose condition holds, of those about Redis
   * @param doctor the doctor's checks of it that are not ok, with their status
   */
  private record StoreTruth(
      String name,
      List<String> commands,
      int submitted,
      String health,
      String sound,
      Set<String> alerts,
      Set<String> doctor) {

    @Override
    public String toString() {
      return name;
    }
  }

  private static Stream<StoreTruth> storeTruths() {
    String sound = "CONFIG SET appendfsync everysec appendonly yes maxmemory 0";
    String keep = " maxmemory-policy noeviction";
    Set<String> no = Set.of();
    Set<String> unsafe = Set.of("PunctualStoreUnsafe");
    String allowance = "CONFIG SET maxmemory 100mb";
    return Stream.of(
        new StoreTruth("sound", List.of(sound + keep), 201, "UP", "1.0", no, no),
        new StoreTruth(
            "keeps nothing",
            List.of(sound + keep, "CONFIG SET appendonly no"),
            201,
            "WARNING",
            "1.0",
            no,
            Set.of("redis warning")),
        new StoreTruth(
            "evicts",
            List.of(allowance, sound.replace(" maxmemory 0", " maxmemory-policy allkeys-lru")),
            201,
            "DOWN",
            "0.0",
            unsafe,
            Set.of("redis problem")),
        new StoreTruth(
            "full",
            List.of(sound + keep, "CONFIG SET maxmemory 1mb"),
            503,
            "DOWN",
            "0.0",
            Set.of("PunctualStoreDown"),
            Set.of("redis problem")),
        new StoreTruth(
            "read-only",
            List.of(sound + keep, "REPLICAOF 127.0.0.1 1"),
            503,
            "DOWN",
            "0.0",
            Set.of("PunctualStoreDown"),
            Set.of("redis problem")),
        new StoreTruth(
            "emptied",
            List.of("REPLICAOF NO ONE", sound + keep, "FLUSHALL"),
            201,
            "DOWN",
            "0.0",
            unsafe,
            Set.of("losses problem")));
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
      WORKER.answersPings("/callback/" + application);
      instance(registry, application, 0, WORKER.port(), "batch");
    }
    String instances = "spring.cloud.discovery.client.simple.instances.";
    registry.add(instances + "busy[0].metadata[punctual.concurrency]", () -> "1");
    WORKER.answersPings("/callback/overloaded");
    WORKER.refuse("/callback/overloaded", 503, null);
    WORKER.refuse("/callback/keyed", 401, CallbackRefusal.UNSIGNED);
    WORKER.refuse("/callback/draining", 503, null);
    for (String application : List.of("overloaded", "keyed", "draining")) {
      instance(registry, application, 0, WORKER.port(), "batch");
    }
    instance(registry, "gone", 0, 1, "batch");
    instance(registry, "nonsense", 0, WORKER.port(), "telepathy");
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
    submit("overloaded", "j", 1, "0s", "");
    for (String instances : List.of("gone", "keyed", "draining")) {
      submit(instances, "j", 1, "1h", "");
    }
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
    // The checks of its instances have a test below.
    return doctor(application, name -> !name.startsWith("worker")).stream()
        .map(found -> found.replaceFirst(" .*", ""))
        .collect(Collectors.joining(","));
  }

  /** Returns the doctor's checks of these names that are not ok, each with its status. */
  private Set<String> doctor(String application, Predicate<String> names) {
    Set<String> found = new TreeSet<>();
    String of = application.isEmpty() ? "" : "?application=" + application;
    for (JsonNode check : api.get("/api/v1/doctor" + of).body().get("checks")) {
      String name = check.get("name").asString();
      String status = check.get("status").asString();
      if (!status.equals("ok") && names.test(name)) {
        found.add(name + " " + status);
      }
    }
    return found;
  }

  private String unchecked(String path) {
    try {
      return page(path);
    } catch (Exception e) {
      throw new AssertionError(path, e);
    }
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

  @ParameterizedTest
  @MethodSource("instanceTruths")
  @Order(2)
  void allSayTheSameOfAnInstance(InstanceTruth truth) {
    Map<String, Object> expected = new TreeMap<>();
    expected.put("API", truth.state());
    expected.put("API, probe", truth.probe());
    expected.put("console, workers", word("instance." + truth.state()));
    expected.put("console, queue", word("instance." + truth.state()));
    expected.put("doctor", truth.doctor());
    expected.put("metric", truth.failing());
    eventually()
        .untilAsserted(
            () -> {
              JsonNode instance = instances(truth.application()).get(0);
              String inFlight =
                  instance.get("inFlight").asInt() + " of " + instance.get("concurrency").asInt();
              expected.put("in flight, workers", inFlight);
              expected.put("in flight, queue", inFlight);
              assertThat(said(truth, instance)).isEqualTo(expected);
            });
  }

  private JsonNode instances(String application) {
    return api.get("/api/v1/workers?application=" + application).body().get("items");
  }

  private Map<String, Object> said(InstanceTruth truth, JsonNode instance) throws Exception {
    String application = truth.application();
    String cells = "%s-0</%s>.*?<span class=\"tag[^>]*>([^<]*)</span>.*?(\\d+ of \\d+)</td>";
    Map<String, Object> said = new TreeMap<>();
    said.put("API", instance.get("state").asString());
    said.put("API, probe", instance.at("/probe/code").asString());
    Map.of(
            "workers", cells.formatted(application, "b"),
            "queue", cells.formatted(application, "a"))
        .forEach(
            (name, pattern) -> {
              String path = "/queues/" + application + "/" + TYPE;
              Matcher row =
                  Pattern.compile(pattern, Pattern.DOTALL)
                      .matcher(
                          unchecked(name.equals("queue") ? path : "/workers?q=" + application));
              boolean found = row.find();
              said.put("console, " + name, found ? row.group(1) : NONE);
              said.put("in flight, " + name, found ? row.group(2) : NONE);
            });
    said.put("doctor", doctor(application, name -> name.matches("workers?|outlier")));
    String attempts = "sum(punctual_instance_attempts_total{application='" + application + "'%s})";
    said.put(
        "metric",
        prometheus.series(
                attempts.formatted(",outcome!='done'") + " * 10 >= " + attempts.formatted(""))
            > 0);
    return said;
  }

  @Test
  @Order(2)
  void asManyInstancesNeedAttentionAsTheApiHas() {
    eventually()
        .untilAsserted(
            () -> {
              JsonNode all = api.get("/api/v1/workers").body().get("items");
              long bad =
                  all.valueStream()
                      .map(instance -> instance.get("state").asString())
                      .filter(state -> !Set.of("well", "unprobed").contains(state))
                      .count();
              assertThat(bad).isGreaterThanOrEqualTo(7);
              assertThat(page("/workers"))
                  .contains(bad + " of " + all.size() + " instances need attention");
            });
  }

  @Test
  @Order(2)
  void whatIsNoInstanceIsListedNowhere() throws Exception {
    assertThat(instances("nonsense")).isEmpty();
    assertThat(page("/workers")).doesNotContain("nonsense-0</b>");
    assertThat(doctor("nonsense", name -> name.equals("worker")))
        .isEqualTo(Set.of("worker problem"));
    assertThat(page("")).contains("nonsense-0");

    String lapsed = "/api/v1/workers/lapsed/lapsed-0";
    ok(
        api.call(
            "PUT",
            lapsed,
            "{\"url\":\"http://127.0.0.1:%d/callback/lapsed\",\"taskTypes\":[\"%s\"],\"ttl\":\"20s\"}"
                .formatted(WORKER.port(), TYPE),
            ""));
    eventually().until(() -> instances("lapsed").size() == 1);
    assertThat(page("/workers")).contains("lapsed-0</b>");
    eventually().until(() -> instances("lapsed").isEmpty());
    assertThat(page("/workers")).doesNotContain("lapsed-0</b>");
    assertThat(doctor("lapsed", name -> name.startsWith("worker"))).isEqualTo(Set.of());
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
    "closed, j0, ready, ready",
    "unserved, j0, ready, ready",
    "unreached, j0, ready, ready",
    "failing, j0, delayed, not_due",
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
  @Order(3)
  void allSayThatAJobIsToldToStopAndThatOneIsUnknown() throws Exception {
    String job = "/jobs/busy/" + TYPE + "/";
    String id =
        Stream.of("j0", "j1", "j2")
            .filter(one -> api.get("/api/v1" + job + one).at("/state").equals("reserved"))
            .findFirst()
            .orElseThrow();
    assertThat(api.delete("/api/v1" + job + id + "?running=interrupt").status()).isEqualTo(202);
    assertThat(api.get("/api/v1" + job + id).at("/state")).isEqualTo("reserved");
    assertThat(api.get("/api/v1" + job + id).text()).contains("\"cancelling\":true");
    assertThat(page(job + id)).contains(word("story.cancelling"), word("state.reserved"));

    assertThat(api.get("/api/v1" + job + "none").status()).isEqualTo(404);
    assertThat(page("/jobs?q=none")).doesNotContain("href=\"/console" + job + "none\"");
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

  /** It has no queue of this test, and sends no heartbeat, but its time is not over. */
  @Test
  @Order(4)
  void allSayThatASchedulerIsOld() throws Exception {
    String members = "punctual:members";
    long life = Duration.ofHours(1).toMillis();
    String entry = "%d %d 0.0.1 no:queue".formatted(System.currentTimeMillis() + life, life);
    Resp.call(REDIS.port(), "HSET", members, "old-scheduler/x", entry);
    eventually().untilAsserted(() -> assertThat(saidOfVersions()).isEqualTo("old".repeat(3)));
    assertThat(api.get("/actuator/health/readiness").at("/status")).isEqualTo("UP");
    Resp.call(REDIS.port(), "HDEL", members, "old-scheduler/x");
    eventually().untilAsserted(() -> assertThat(saidOfVersions()).isEqualTo("well".repeat(3)));
  }

  private String saidOfVersions() throws Exception {
    String old = "0.0.1 (old-scheduler/x)";
    String overview = page("");
    return Stream.of(
            doctor(NONE, name -> name.equals("versions")).contains("versions warning"),
            api.get("/api/v1/doctor").text().contains(old),
            overview.contains(word("finding.versions")) && overview.contains(old))
        .map(is -> is ? "old" : "well")
        .reduce("", String::concat);
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

  @ParameterizedTest
  @MethodSource("storeTruths")
  @Order(6)
  void allSayTheSameOfRedis(StoreTruth truth) throws Exception {
    for (String command : truth.commands()) {
      assertThat(Resp.call(REDIS.port(), command.split(" ", -1))).isEqualTo("OK");
    }
    Map<String, Object> expected = new TreeMap<>();
    expected.put("API", Boolean.toString(truth.sound().equals("1.0")));
    expected.put("submit", truth.submitted());
    expected.put("metric", truth.sound());
    // Redis answers, but refuses requests.
    boolean refuses = truth.submitted() == 503;
    expected.put("metric, up", refuses ? "0.0" : "1.0");
    expected.put("says that it refuses", refuses);
    expected.put("health", truth.health());
    expected.put("alerts", truth.alerts());
    expected.put("doctor", truth.doctor());
    expected.put("console, overview", truth.doctor());
    eventually().untilAsserted(() -> assertThat(said()).isEqualTo(expected));
  }

  private Map<String, Object> said() throws Exception {
    Map<String, Object> said = new TreeMap<>();
    said.put("API", api.get("/api/v1/store").at("/sound"));
    said.put(
        "submit",
        api.post(
                "/api/v1/jobs",
                "{\"application\":\"well\",\"taskType\":\"%s\",\"delay\":\"1h\"}".formatted(TYPE))
            .status());
    said.put("metric", metric("punctual_store_sound"));
    said.put("metric, up", metric("punctual_store_up"));
    said.put("says that it refuses", api.get("/api/v1/doctor").text().contains("refuses requests"));
    said.put("health", api.get("/actuator/health").at("/components/store/status"));
    Set<String> alerts = new TreeSet<>(prometheus.alerts().getOrDefault(NONE, Set.of()));
    alerts.removeIf(name -> !name.startsWith("PunctualStore"));
    said.put("alerts", alerts);
    said.put("doctor", doctor(NONE, name -> name.matches("redis|durability|losses")));
    Set<String> overview = new TreeSet<>();
    Matcher line =
        Pattern.compile("<li class=\"(bad|warn)\">(.*?)</li>", Pattern.DOTALL).matcher(page(""));
    while (line.find()) {
      for (String code : List.of("redis", "durability", "losses")) {
        if (line.group(2).contains(word("finding." + code))) {
          overview.add(code + (line.group(1).equals("bad") ? " problem" : " warning"));
        }
      }
    }
    said.put("console, overview", overview);
    return said;
  }
}
