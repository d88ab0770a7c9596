package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.ClaimToken;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.job.QueueName;
import io.punctual.redis.RedisServer;
import io.punctual.server.ApiClient.Answer;
import io.punctual.server.cli.Commands;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Role;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.util.ReflectionTestUtils;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Who may call what. The calls are taken from the running server's own routes, so that none can be
 * added without a rule.
 */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {
      "spring.profiles.active=closed",
      // Where Boot would believe what neighbours say about who calls.
      "spring.main.cloud-platform=kubernetes",
      "eureka.client.enabled=false",
      "spring.data.redis.username=punctual",
      "spring.data.redis.password=secret",
      "logging.file.name=target/access.log",
      "punctual.security.signing-keys=" + AccessIT.SIGNING_KEY,
      "punctual.security.operators.vera.password=" + AccessIT.PASSWORD,
      "punctual.security.operators.vera.role=viewer",
      "punctual.security.operators.otto.password=" + AccessIT.PASSWORD,
      "punctual.security.operators.otto.role=operator",
      "punctual.security.operators.bea.password=" + AccessIT.PASSWORD,
      "punctual.security.operators.bea.role=admin",
      "punctual.events.rights.shop=Other,third"
    })
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Isolated("its log is the process's")
class AccessIT extends ServerTestBase {

  static final String SIGNING_KEY = "Vb8s0qKfT2mYc1xN7wLhR4zJ6pD9gE3uAo5iS0kQ";
  // "correct horse battery", with few rounds, since it is asked for often here.
  static final String PASSWORD =
      "{bcrypt}$2a$04$vtWr23JHb1SyCtcvd1rAwOoEjbRrBRCjIXusEoEJqV9LWyADVHB12";
  private static final Path LOG = Path.of("target/access.log");
  private static final Map<Role, String> OPERATORS =
      Map.of(Role.VIEWER, "vera", Role.OPERATOR, "otto", Role.ADMIN, "bea");
  private static final String CLEAR = "correct horse battery";

  // With the rights of docs/redis.acl, which must do for credentials and the audit, too.
  private static final RedisServer REDIS = RestrictedRedisIT.start();

  @Autowired private StringRedisTemplate redis;

  @Autowired
  @Qualifier("requestMappingHandlerMapping")
  private RequestMappingHandlerMapping mappings;

  @Autowired
  @Qualifier("longPolls")
  private Object longPolls;

  private int result;

  private String own = "";
  private String foreign = "";

  @DynamicPropertySource
  static void redis(DynamicPropertyRegistry registry) {
    registry.add("spring.data.redis.host", () -> "127.0.0.1");
    registry.add("spring.data.redis.port", REDIS::port);
  }

  @BeforeEach
  void makeTokens() {
    own = own.isEmpty() ? command("credentials", "shop") : own;
    foreign = foreign.isEmpty() ? command("credentials", "other") : foreign;
    for (String token : List.of(own, foreign)) {
      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> call("GET", "/api/v1/queues", "", bearer(token)).status() == 200);
    }
  }

  @AfterAll
  static void stop() {
    REDIS.close();
  }

  /** The token, where the command prints one; else all that it prints. */
  private String command(String... words) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    PrintStream print = new PrintStream(out, true, StandardCharsets.UTF_8);
    List<String> args = new ArrayList<>(List.of(words));
    args.add("--spring.profiles.active=closed");
    args.add("--spring.data.redis.host=127.0.0.1");
    args.add("--spring.data.redis.port=" + REDIS.port());
    args.add("--spring.data.redis.username=punctual");
    args.add("--spring.data.redis.password=secret");
    args.add("--punctual.security.signing-keys=" + SIGNING_KEY);
    result =
        new Commands(InputStream.nullInputStream(), print, print).run(args.toArray(String[]::new));
    String text = out.toString(StandardCharsets.UTF_8).replace("punctual.token=", "");
    return words[0].equals("credentials") ? text.lines().findFirst().orElse("") : text;
  }

  private Answer call(String method, String path, String body, String authorization) {
    return api.call(method, path, body, authorization);
  }

  private static String bearer(String token) {
    return "Bearer " + token;
  }

  private static String basic(String name, String password) {
    return "Basic "
        + Base64.getEncoder()
            .encodeToString((name + ":" + password).getBytes(StandardCharsets.UTF_8));
  }

  /** A call as a user would make it, about the application shop. */
  private record Route(String method, String path, String body, @Nullable Allowed allowed) {

    @Override
    public String toString() {
      return method + " " + path;
    }
  }

  private Stream<Route> routes() {
    return mappings.getHandlerMethods().entrySet().stream()
        .filter(entry -> !isOfTheConsole(entry.getValue()))
        .flatMap(entry -> routes(entry.getKey(), entry.getValue()))
        .filter(route -> !route.path().startsWith("/error"))
        .filter(route -> !route.path().startsWith("/api/v1/openapi.yaml"));
  }

  /** Those are asked for by visitors, see ConsoleIT. */
  private static boolean isOfTheConsole(HandlerMethod handler) {
    return handler.getBeanType().getPackageName().endsWith("server.console");
  }

  private static Stream<Route> routes(RequestMappingInfo info, HandlerMethod handler) {
    String token = new ClaimToken(new QueueName("shop", "a"), "x", "i", new LeaseToken("l")).text();
    return info.getPatternValues().stream()
        .flatMap(
            pattern ->
                info.getMethodsCondition().getMethods().stream()
                    .map(
                        method -> {
                          boolean get = method.name().equals("GET");
                          String path =
                              pattern
                                  .replace("{application}", "shop")
                                  .replace("{taskType}", "a")
                                  .replace("{taskId}", "x")
                                  .replace("{scheduleId}", "x")
                                  .replace("{name}", "x")
                                  .replace("{instance}", "x")
                                  .replace("{token}", token);
                          return new Route(
                              method.name(),
                              get && path.equals(pattern) ? path + "?application=shop" : path,
                              get || method.name().equals("DELETE") ? "" : body(pattern, token),
                              handler.getMethodAnnotation(Allowed.class));
                        }));
  }

  private static String body(String pattern, String token) {
    String job = "{\"application\":\"shop\"}";
    return switch (pattern.substring(pattern.lastIndexOf('/'))) {
      case "/batch" -> "{\"jobs\":[" + job + "]}";
      case "/claims:check" -> "{\"tokens\":[\"" + token + "\"]}";
      case "/events" -> "{\"name\":\"e\",\"key\":\"k\",\"applications\":[\"shop\"]}";
      case "/{instance}" -> "{}";
      default -> job;
    };
  }

  private static boolean refused(Answer answer) {
    JsonNode item = answer.body().at("/results/0/status");
    return (item.isMissingNode() ? answer.status() : item.asInt()) == 403;
  }

  @ParameterizedTest
  @MethodSource("routes")
  void everyCallIsForThoseWhoMayMakeIt(Route route) {
    Allowed allowed = route.allowed();
    assertThat(allowed).as("the rule of " + route).isNotNull();
    for (String nobody :
        new String[] {
          "",
          bearer("nonsense"),
          bearer("pct_0123456789ab_" + "A".repeat(43)),
          bearer(own.substring(0, own.length() - 1) + (own.endsWith("A") ? "B" : "A")),
          bearer("eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0."),
          basic("ada", "wrong-" + UUID.randomUUID()),
          basic("nobody", CLEAR),
          "Digest username=ada"
        }) {
      // Not the same name too often, which has an answer of its own.
      Answer answer = call(route.method(), route.path(), route.body(), nobody);
      assertThat(answer.status()).as(route + " by '" + nobody + "'").isIn(401, 429);
      assertThat(answer.at("/detail") + answer.at("/error")).isNotBlank();
    }
    assertThat(refused(call(route, bearer(foreign)))).as("another application").isTrue();
    assertThat(refused(call(route, bearer(own))))
        .as("the application itself")
        .isEqualTo(!allowed.applications());
    OPERATORS.forEach(
        (role, name) ->
            assertThat(refused(call(route, basic(name, CLEAR))))
                .as(role.toString())
                .isEqualTo(!role.includes(allowed.value())));
  }

  private Answer call(Route route, String authorization) {
    Answer answer = call(route.method(), route.path(), route.body(), authorization);
    assertThat(answer.status()).as(route.toString()).isNotIn(401, 429, 500);
    return answer;
  }

  @Test
  void whatAnotherSiteSendsByAnOperatorsBrowserIsRefused() {
    String pause = "/api/v1/queues/shop/none/pause";
    for (String[] headers :
        new String[][] {
          {"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"},
          {"Sec-Fetch-Site", "same-site"},
          {"Origin", "https://evil.example"}
        }) {
      assertThat(sent("POST", pause, headers)).isEqualTo(403);
    }
    assertThat(sent("POST", pause, "Sec-Fetch-Site", "none")).isEqualTo(404);
    assertThat(sent("POST", pause, "Sec-Fetch-Site", "same-origin")).isEqualTo(404);
    assertThat(sent("GET", "/api/v1/queues", "Sec-Fetch-Site", "cross-site")).isEqualTo(200);
  }

  @Test
  void whoCallsIsNobodyElsesToSay() {
    for (int i = 0; i < 5; i++) {
      assertThat(guessed("carl", "10.9.0." + i)).isEqualTo(401);
    }
    assertThat(guessed("carl", "10.9.0.6")).isEqualTo(429);
  }

  private int guessed(String name, String address) {
    return api.send(
            "/api/v1/queues",
            request ->
                request
                    .header("Authorization", basic(name, "wrong"))
                    .header("X-Forwarded-For", address)
                    .header("Forwarded", "for=" + address))
        .status();
  }

  private int sent(String method, String path, String... headers) {
    return api.send(
            path,
            request ->
                request
                    .header("Authorization", basic("bea", CLEAR))
                    .headers(headers)
                    .method(method, HttpRequest.BodyPublishers.noBody()))
        .status();
  }

  @Test
  void aFormIsNoCall() {
    Answer answer =
        api.send(
            "/api/v1/jobs/batch",
            request ->
                request
                    .header("Authorization", bearer(own))
                    .header("Content-Type", "application/x-www-form-urlencoded")
                    .POST(HttpRequest.BodyPublishers.ofString("application=shop")));
    assertThat(answer.status()).isEqualTo(415);
    assertThat(answer.body().get("detail").asString()).contains("application/json");
  }

  @Test
  void aJobSaysWhoSubmittedIt() {
    String job =
        "{\"application\":\"shop\",\"taskType\":\"by\",\"taskId\":\"%s\",\"delay\":\"1h\"}";
    String jobs = "/api/v1/jobs";
    String admin = basic("bea", CLEAR);
    assertThat(call("POST", jobs, job.formatted("t"), bearer(own)).status()).isEqualTo(201);
    assertThat(call("POST", jobs, job.formatted("o"), admin).status()).isEqualTo(201);
    // The same job again is still that of whoever came first.
    assertThat(call("POST", jobs, job.formatted("t"), admin).status()).isEqualTo(200);
    String params = "{\"params\":\"new\"}";
    assertThat(call("PATCH", jobs + "/shop/by/o", params, bearer(own)).status()).isEqualTo(200);

    assertThat(submittedBy("t")).matches("shop/[A-Za-z0-9_-]+").doesNotContain(own);
    assertThat(submittedBy("o")).isEqualTo("bea");
    Answer list = call("GET", jobs + "?application=shop&taskType=by&state=delayed", "", admin);
    assertThat(list.at("/items/0/submittedBy")).isEqualTo(submittedBy("t"));
    // Each cancels the job of the other one.
    String submitter = submittedBy("t");
    assertThat(call("DELETE", jobs + "/shop/by/t", "", admin).status()).isEqualTo(200);
    assertThat(call("DELETE", jobs + "/shop/by/o", "", bearer(own)).status()).isEqualTo(200);
    assertThat(call("GET", jobs + "/shop/by/t", "", admin).at("/cancelledBy")).isEqualTo("bea");
    assertThat(call("GET", jobs + "/shop/by/o", "", admin).at("/cancelledBy")).isEqualTo(submitter);
  }

  private String submittedBy(String id) {
    return call("GET", "/api/v1/jobs/shop/by/" + id, "", basic("vera", CLEAR))
        .body()
        .get("submittedBy")
        .asString();
  }

  @Test
  void anApplicationWorksWithItsOwnJobsAndSeesNoOthers() {
    String job = "{\"taskType\":\"a\",\"taskId\":\"%s\",\"delay\":\"1h\"}";
    // Its token says which application it is.
    assertThat(call("POST", "/api/v1/jobs", job.formatted("mine"), bearer(own)).status())
        .isEqualTo(201);
    assertThat(call("POST", "/api/v1/jobs", job.formatted("theirs"), bearer(foreign)).status())
        .isEqualTo(201);
    assertThat(call("GET", "/api/v1/jobs/shop/a/mine", "", bearer(own)).status()).isEqualTo(200);
    assertThat(call("GET", "/api/v1/jobs/SHOP/a/mine", "", bearer(own)).status()).isEqualTo(200);
    assertThat(call("GET", "/api/v1/jobs/Other/a/theirs", "", bearer(own)).status()).isEqualTo(403);
    String all = "{\"application\":\"*\",\"taskType\":\"a\"}";
    assertThat(call("POST", "/api/v1/jobs:cancel", all, bearer(own)))
        .satisfies(answer -> assertThat(answer.status()).isEqualTo(403))
        .satisfies(answer -> assertThat(answer.at("/detail")).contains("the application shop"));
    assertThat(call("POST", "/api/v1/jobs:cancel", all, basic("vera", CLEAR)).status())
        .isEqualTo(403);
    assertThat(call("GET", "/api/v1/jobs/other/a/theirs", "", bearer(foreign)).at("/state"))
        .isEqualTo("delayed");
    assertThat(call("GET", "/api/v1/queues", "", bearer(own)).body().at("/items"))
        .isNotEmpty()
        .allSatisfy(queue -> assertThat(queue.at("/application").asString()).isEqualTo("shop"));
    assertThat(call("GET", "/api/v1/queues", "", basic("vera", CLEAR)).body().at("/items").size())
        .isGreaterThan(1);
    assertThat(call("GET", "/api/v1/doctor", "", bearer(own)).body().at("/checks"))
        .isNotEmpty()
        .allSatisfy(check -> assertThat(check.at("/application").asString()).isEqualTo("shop"));
    assertThat(call("GET", "/api/v1/doctor", "", basic("vera", CLEAR)).body().at("/checks"))
        .anySatisfy(check -> assertThat(check.at("/name").asString()).isEqualTo("redis"));
    assertThat(
            call(
                    "POST",
                    "/api/v1/command",
                    "{\"command\":\"add\",\"topic\":\"a\",\"id\":\"c\",\"delay\":0}",
                    bearer(own))
                .status())
        .isEqualTo(200);
    Answer popped =
        call(
            "POST",
            "/api/v1/command",
            "{\"command\":\"pop\",\"topic\":\"a\",\"timeout\":10}",
            bearer(own));
    assertThat(popped.at("/id")).isEqualTo("c");
    Answer stolen =
        call("POST", "/api/v1/claims/" + popped.at("/token") + "/ack", "", bearer(foreign));
    assertThat(stolen.status()).isEqualTo(403);
    Answer touched =
        call(
            "POST",
            "/api/v1/command",
            "{\"command\":\"finish\",\"id\":\"c\",\"topic\":\"a\",\"token\":\""
                + popped.at("/token")
                + "\"}",
            bearer(foreign));
    assertThat(touched.status()).isEqualTo(400);
    assertThat(
            call("POST", "/api/v1/claims/" + popped.at("/token") + "/ack", "", bearer(own))
                .status())
        .isEqualTo(200);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
      GET  | /jobs?tag=t |
      GET  | /workers |
      GET  | /doctor |
      GET  | /forecast |
      POST | /jobs | {'taskType':'a','delay':'1h'}
      POST | /jobs:cancel | {'tag':'t','dryRun':true}
      POST | /jobs:requeue | {'tag':'t','dryRun':true}
      POST | /jobs:restore | {'operation':'o','dryRun':true}
      POST | /jobs:purge | {'tag':'t','dryRun':true}
      POST | /jobs:reschedule | {'tag':'t','delay':'1h','dryRun':true}
      POST | /claims | {'taskTypes':['none']}
      POST | /claims:leave | {'worker':'w'}
      POST | /events | {'name':'order.paid','key':'1'}
      """)
  void anApplicationNeedsNotNameItselfWhereTheDocumentSaysSo(
      String method, String path, String json) {
    String body = json == null ? "" : json.replace('\'', '"');
    String whole = "/api/v1" + path;

    Answer answer = call(method, whole, body, bearer(own));

    assertThat(answer.status()).as(answer.text()).isBetween(200, 204);
    if (!body.isEmpty()) {
      Contract.checkRequest(method, whole, new JsonMapper().readTree(body));
    }
  }

  @Test
  void anApplicationSendsEventsToOthersOnlyWithARight() {
    String job =
        """
        {"taskType":"a","taskId":"unpaid","delay":"1h","cancelOn":[{"name":"paid","key":"1"}]}""";
    assertThat(call("POST", "/api/v1/jobs", job, bearer(foreign)).status()).isEqualTo(201);
    String event =
        """
        {"name":"paid","key":"1","applications":["%s"]}""";

    Answer refused = call("POST", "/api/v1/events", event.formatted("shop"), bearer(foreign));
    assertThat(refused.status()).isEqualTo(403);
    assertThat(refused.at("/detail")).contains("punctual.events.rights.other=shop");
    Answer sent = call("POST", "/api/v1/events", event.formatted("other"), bearer(own));
    assertThat(sent.status()).as(sent.text()).isEqualTo(200);
    assertThat(sent.at("/items/0/taskId")).isEqualTo("unpaid");
    assertThat(sent.at("/items/0/outcome")).isEqualTo("cancelled");
    assertThat(
            call("POST", "/api/v1/events", event.formatted("shop"), basic("vera", CLEAR)).status())
        .isEqualTo(403);
    assertThat(
            call("POST", "/api/v1/events", event.formatted("shop"), basic("otto", CLEAR)).status())
        .isEqualTo(200);
  }

  @Test
  void aPopThatWaitsIsGivenNothingOnceItsTokenIsRevoked() throws Exception {
    String revoked = command("credentials", "revoked");
    String heir = command("credentials", "revoked");
    String pop = "{\"command\":\"pop\",\"topic\":\"a\",\"timeout\":15}";
    for (String token : List.of(revoked, heir)) {
      // Tokens are read once a second at most.
      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> call("GET", "/api/v1/queues", "", bearer(token)).status() == 200);
    }
    CompletableFuture<Answer> waits =
        CompletableFuture.supplyAsync(() -> call("POST", "/api/v1/command", pop, bearer(revoked)));
    // Once it waits at the server: a pop that comes after the revocation is refused at once.
    Awaitility.await()
        .until(() -> Objects.equals(ReflectionTestUtils.invokeMethod(longPolls, "size"), 1));
    assertThat(command("revoke", revoked.substring(4, 16))).contains("revoked");
    Awaitility.await()
        .atMost(Duration.ofSeconds(12))
        .until(() -> call("GET", "/api/v1/queues", "", bearer(revoked)).status() == 401);
    assertThat(waits.isDone()).isFalse();

    String job = "{\"taskType\":\"a\",\"taskId\":\"late\",\"delay\":0,\"retry\":\"never\"}";
    assertThat(call("POST", "/api/v1/jobs", job, bearer(heir)).status()).isEqualTo(201);
    Answer refused = waits.get(20, TimeUnit.SECONDS);
    assertThat(refused.status()).isEqualTo(401);
    assertThat(refused.at("/error")).contains("revoked");
    Answer popped = call("POST", "/api/v1/command", pop, bearer(heir));
    assertThat(popped.at("/id")).isEqualTo("late");
    assertThat(popped.at("/attempt")).isEqualTo("1");
  }

  @Test
  void tokensAreChangedWithoutAGap() throws IOException {
    String first = command("credentials", "rotating");
    String second = command("credentials", "Rotating");
    assertThat(second).startsWith("pct_").isNotEqualTo(first);
    assertThat(command("credentials", "rotating")).contains("2 tokens already");
    assertThat(result).isEqualTo(1);
    for (String token : List.of(first, second)) {
      Awaitility.await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> call("GET", "/api/v1/queues", "", bearer(token)).status() == 200);
    }
    assertThat(command("tokens")).contains("rotating").doesNotContain(first, second);
    assertThat(command("revoke", first.substring(4, 16))).contains("revoked");
    assertThat(command("revoke", first.substring(4, 16))).contains("there is no token");
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .until(
            () ->
                call("GET", "/api/v1/queues", "", bearer(first)).status() == 401
                    && call("GET", "/api/v1/queues", "", bearer(second)).status() == 200);

    // What Redis and the log hold lets nobody in.
    String secret = second.substring(17);
    assertThat(redis.opsForHash().entries("punctual:tokens").toString()).doesNotContain(secret);
    assertThat(Files.readString(LOG)).isNotBlank().doesNotContain(secret, SIGNING_KEY, CLEAR);
  }

  @Test
  void workersThatOperatorsRegisterAreWrittenDown() {
    String path = "/api/v1/workers/shop/audited";
    String worker =
        "{\"url\":\"https://10.0.0.7:%d/cb\",\"taskTypes\":[\"audited\"],\"ttl\":\"1m\"}";
    String bea = basic("bea", CLEAR);
    Answer created = call("PUT", path, worker.formatted(1), bea);
    assertThat(created.status()).as(created.text()).isEqualTo(201);
    assertThat(call("PUT", path, worker.formatted(1), bea).status()).isEqualTo(200);
    assertThat(call("PUT", path, worker.formatted(2), bea).status()).isEqualTo(200);
    assertThat(call("DELETE", path, "", bea).status()).isEqualTo(200);

    JsonNode items = call("GET", "/api/v1/audit?limit=3", "", bea).body().get("items");
    assertThat(items)
        .allSatisfy(item -> assertThat(item.get("target").asString()).isEqualTo("shop audited"));
    assertThat(items.valueStream().map(item -> item.get("after").asString()))
        .containsExactly("removed", "https://10.0.0.7:2/cb", "https://10.0.0.7:1/cb");
  }

  @Test
  void anApplicationPausesItsOwnQueuesAlone() {
    String job = "{\"taskType\":\"held\",\"taskId\":\"x\",\"delay\":\"1h\"}";
    assertThat(call("POST", "/api/v1/jobs", job, bearer(own)).status()).isEqualTo(201);
    String terms = "{\"reason\":\"<b>deploy</b>\",\"for\":\"30m\"}";
    for (String path : List.of("/api/v1/queues/shop/held", "/api/v1/applications/shop")) {
      for (String act : List.of("/pause", "/resume")) {
        assertThat(call("POST", path + act, "", bearer(foreign)).status()).isEqualTo(403);
        assertThat(call("POST", path + act, "", basic("vera", CLEAR)).status()).isEqualTo(403);
      }
    }
    assertThat(call("POST", "/api/v1/applications/shop/pause", terms, bearer(own)).at("/pause/by"))
        .isEqualTo("shop");
    Answer queue = call("POST", "/api/v1/queues/shop/held/pause", "", basic("otto", CLEAR));
    assertThat(queue.at("/state")).isEqualTo("paused");
    assertThat(queue.at("/pauses/0/of") + queue.at("/pauses/0/by")).isEqualTo("queueotto");
    assertThat(queue.at("/pauses/1/of") + queue.at("/pauses/1/by")).isEqualTo("applicationshop");
    assertThat(queue.at("/pauses/1/reason")).isEqualTo("<b>deploy</b>");
    Duration length =
        Duration.between(
            Instant.parse(queue.at("/pauses/1/since")), Instant.parse(queue.at("/pauses/1/until")));
    assertThat(length).isEqualTo(Duration.ofMinutes(30));
    Answer doctor = call("GET", "/api/v1/doctor", "", bearer(own));
    assertThat(doctor.text()).contains("by otto since", "with its application by shop since");

    Answer resumed = call("POST", "/api/v1/applications/shop/resume", "", bearer(own));
    assertThat(resumed.body().get("pause").isNull()).isTrue();
    queue = call("POST", "/api/v1/queues/shop/held/resume", "", bearer(own));
    assertThat(queue.body().get("pauses")).isEmpty();
    assertThat(queue.body().get("pausedSince").isNull()).isTrue();
  }

  @Test
  void whatOperatorsDoIsWrittenDown() throws IOException {
    String path = "/api/v1/jobs/shop/audited/x";
    String job = "{\"taskType\":\"audited\",\"taskId\":\"x\",\"delay\":\"1h\"}";
    assertThat(call("POST", "/api/v1/jobs", job, bearer(own)).status()).isEqualTo(201);
    String otto = basic("otto", CLEAR);
    remember("kept", Duration.ofDays(89));
    remember("old", Duration.ofDays(91));
    String queue = "/api/v1/queues/shop/audited";
    assertThat(call("POST", queue + "/pause", "", otto).status()).isEqualTo(200);
    assertThat(call("PUT", queue + "/limits", "{\"concurrency\":3}", otto).status()).isEqualTo(200);
    assertThat(call("PATCH", path, "{\"delay\":\"2h\"}", otto).status()).isEqualTo(200);
    assertThat(call("DELETE", path, "", otto).status()).isEqualTo(200);
    // What changes nothing is nothing.
    Answer paused = call("POST", queue + "/pause", "", otto);
    assertThat(paused.status()).isEqualTo(200);
    assertThat(paused.at("/pauses/0/by")).isEqualTo("otto");
    // What an application does with its own jobs is not.
    assertThat(call("POST", path + "/requeue", "", bearer(own)).status()).isEqualTo(409);

    JsonNode items = call("GET", "/api/v1/audit?limit=4", "", otto).body().get("items");
    assertThat(items.valueStream().map(item -> item.get("action").asString()))
        .containsExactly("cancel", "reschedule", "limit", "pause");
    assertThat(items)
        .allSatisfy(item -> assertThat(item.get("operator").asString()).isEqualTo("otto"));
    assertThat(items.get(0).get("target").asString()).isEqualTo("shop/audited/x");
    assertThat(items.get(1).get("before").asString()).startsWith("due ");
    assertThat(items.get(1).get("after").asString())
        .startsWith("due ")
        .isNotEqualTo(items.get(1).get("before").asString());
    assertThat(items.get(2).get("before").asString()).contains("concurrency=null");
    assertThat(items.get(2).get("after").asString()).contains("concurrency=3");
    String at = items.get(1).get("at").asString();
    String search = "/api/v1/audit?operator=ott&target=SHOP/audited&action=re&from=" + at;
    JsonNode found = call("GET", search + "&until=" + at, "", otto).body().get("items");
    assertThat(found.valueStream()).containsExactly(items.get(1));
    found = call("GET", search + "&limit=1", "", otto).body().get("items");
    assertThat(found.valueStream()).containsExactly(items.get(1));
    assertThat(call("GET", "/api/v1/audit?operator=nobody", "", otto).body().get("items"))
        .isEmpty();
    assertThat(call("GET", "/api/v1/audit?from=soon", "", otto).status()).isEqualTo(400);
    // Page by page, none left out and none twice.
    List<String> paged = new ArrayList<>();
    String cursor = "";
    while (cursor != null) {
      JsonNode page = call("GET", "/api/v1/audit?limit=1" + cursor, "", otto).body();
      page.get("items").forEach(item -> paged.add(item.get("id").asString()));
      cursor =
          page.get("nextCursor").isNull() ? null : "&cursor=" + page.get("nextCursor").asString();
    }
    JsonNode all = call("GET", "/api/v1/audit?limit=500", "", otto).body().get("items");
    assertThat(paged)
        .containsExactlyElementsOf(
            all.valueStream().map(item -> item.get("id").asString()).toList());
    // Of a scheduler of before.
    assertThat(paged).contains("kept").doesNotContain("old");
    assertThat(call("GET", "/api/v1/audit?cursor=x", "", otto).status()).isEqualTo(400);
    assertThat(Files.readString(LOG))
        .contains("otto did cancel to shop/audited/x: delayed -> cancelled");
    assertThat(call("GET", "/api/v1/audit", "", basic("vera", CLEAR)).status()).isEqualTo(403);
  }

  private void remember(String id, Duration age) {
    Instant at = Instant.now().minus(age);
    String entry =
        "{\"id\":\"%s\",\"at\":\"%s\",\"operator\":\"otto\",\"action\":\"purge\",\"target\":\"a\"}";
    redis.opsForZSet().add("punctual:audit", entry.formatted(id, at), (double) -at.toEpochMilli());
  }

  @Test
  void noLineOfTheLogIsAnOperators() throws IOException {
    String forged = "x\\n2026-11-21T16:00:00Z INFO 1 : punctual.audit : vera did purge\\u001b[31m";
    String body =
        "{\"application\":\"shop\",\"taskType\":\"a\",\"state\":\"dead\",\"error\":\""
            + forged
            + "\"}";
    assertThat(call("POST", "/api/v1/jobs:requeue", body, basic("otto", CLEAR)).status())
        .isEqualTo(200);
    assertThat(Files.readString(LOG))
        .contains("otto did requeue many")
        .doesNotContain("\u001b[31m");
    assertThat(Files.readAllLines(LOG)).noneMatch(line -> line.startsWith("2026-11-21T16:00:00Z"));
    // A cursor that somebody made up.
    String cursor = "/api/v1/jobs?application=shop&tag=t&cursor=";
    assertThat(call("GET", cursor + "eAp9OmIKMAp5", "", bearer(own)).status()).isEqualTo(400);
  }

  @Test
  void aListWithoutAQueryKnowsTheApplicationOfItsCallerAlone() {
    assertThat(detail(call("GET", "/api/v1/jobs", "", bearer(own)))).startsWith("tag ");
    assertThat(detail(call("GET", "/api/v1/jobs", "", basic("vera", CLEAR))))
        .startsWith("application ");
    assertThat(detail(call("GET", "/api/v1/jobs", "", bearer(foreign)))).startsWith("tag ");
  }

  private static String detail(Answer answer) {
    assertThat(answer.status()).isEqualTo(400);
    return answer.body().get("detail").asString();
  }

  @Test
  void thePasswordCommandReadsWhatItIsGiven() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    PrintStream print = new PrintStream(out, true, StandardCharsets.UTF_8);
    InputStream in =
        new ByteArrayInputStream("a long enough password\n".getBytes(StandardCharsets.UTF_8));
    assertThat(new Commands(in, print, print).run("password")).isZero();
    assertThat(out.toString(StandardCharsets.UTF_8)).startsWith("{bcrypt}$2");
    assertThat(command("credentials", "lost", "--file=/nowhere/x"))
        .contains("could not be written");
    assertThat(command("tokens")).doesNotContain("lost");
  }

  @Test
  void credentialsAreNotTakenForWrittenWhereTheFileIsEmpty(@TempDir Path directory)
      throws IOException {
    Path empty = Files.createFile(directory.resolve("empty.properties"));
    assertThat(command("credentials", "unwritten", "--file=" + empty)).contains("is empty");
    assertThat(result).isEqualTo(1);
    assertThat(empty).isEmptyFile();
    assertThat(command("tokens")).doesNotContain("unwritten");
    Path full = directory.resolve("full.properties");
    command("credentials", "written", "--file=" + full);
    assertThat(full).content().startsWith("punctual.token=");
    assertThat(command("credentials", "written", "--file=" + full)).contains("stays as it is");
    assertThat(result).isZero();
  }

  @Test
  void whoGuessesPasswordsIsMadeToWait() {
    String name = "otto" + UUID.randomUUID().toString().substring(0, 4);
    for (int i = 0; i < 5; i++) {
      assertThat(call("GET", "/api/v1/queues", "", basic(name, "guess" + i)).status())
          .isEqualTo(401);
    }
    Answer answer = call("GET", "/api/v1/queues", "", basic(name, "guess"));
    assertThat(answer.status()).isEqualTo(429);
    assertThat(Integer.parseInt(answer.header("Retry-After"))).isBetween(1, 60);
    assertThat(call("GET", "/api/v1/queues", "", basic("otto", CLEAR)).status()).isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "/env",
        "/heapdump",
        "/beans",
        "/configprops",
        "/loggers",
        "/threaddump",
        "/mappings",
        "/shutdown",
        "/info",
        "/metrics",
        "/prometheus",
        "/gateway",
        "/refresh",
        "/jolokia"
      })
  void actuatorTellsStrangersThatItIsWellAndNothingElse(String endpoint) {
    assertThat(call("GET", "/actuator" + endpoint, "", "").status()).isEqualTo(401);
    assertThat(call("GET", "/actuator/health/../env", "", "").status()).isIn(400, 401);
    int known = call("GET", "/actuator" + endpoint, "", basic("vera", CLEAR)).status();
    assertThat(known).isEqualTo(endpoint.equals("/prometheus") ? 200 : 404);
    assertThat(call("GET", "/actuator" + endpoint, "", bearer(own)).status()).isEqualTo(403);
  }

  @Test
  void browsersAreToldToShowNothing() {
    Answer answer = call("GET", "/api/v1/queues", "", bearer(own));
    assertThat(answer.header("Content-Security-Policy"))
        .contains("default-src 'none'", "frame-ancestors 'none'");
    assertThat(answer.header("X-Content-Type-Options")).isEqualTo("nosniff");
    assertThat(answer.header("X-Frame-Options")).isEqualTo("DENY");
    assertThat(answer.headers().firstValue("Set-Cookie")).isEmpty();
    assertThat(call("GET", "/actuator/health", "", "").status()).isEqualTo(200);
    assertThat(call("GET", "/api/v1/openapi.yaml", "", "").status()).isEqualTo(200);
  }
}
