package io.punctual.server;

import static com.github.tomakehurst.wiremock.client.WireMock.any;
import static com.github.tomakehurst.wiremock.client.WireMock.anyUrl;
import static com.github.tomakehurst.wiremock.core.WireMockConfiguration.wireMockConfig;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.github.tomakehurst.wiremock.WireMockServer;
import com.github.tomakehurst.wiremock.client.ResponseDefinitionBuilder;
import com.github.tomakehurst.wiremock.extension.ResponseDefinitionTransformerV2;
import com.github.tomakehurst.wiremock.http.Request;
import com.github.tomakehurst.wiremock.http.ResponseDefinition;
import com.github.tomakehurst.wiremock.stubbing.ServeEvent;
import io.punctual.redis.Ports;
import io.punctual.server.probe.ProbeResult.Code;
import io.punctual.wire.CallbackRefusal;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import io.punctual.wire.CallbackSignature;
import io.punctual.wire.Limits;
import io.punctual.wire.PingAnswer;
import io.punctual.wire.WorkerMetadata;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Whatever is in the way of a worker is named, and comes with its remedy. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {
      "eureka.client.enabled=false",
      "punctual.security.signing-keys[0]=" + WorkerProbeIT.MASTER,
      "punctual.security.unsigned-answers=polyglot"
    })
class WorkerProbeIT extends SharedRedisTestBase {

  static final String MASTER = "Zr3kQ8mVt1LxB6yHc9WnJ4sPfD0gUa7e";
  private static final String HTML = "<html><body>Welcome</body></html>";
  private static final JsonMapper JSON = new JsonMapper();
  private static final Map<String, Function<Request, ResponseDefinitionBuilder>> BEHAVIOUR =
      new ConcurrentHashMap<>();
  private static final Queue<Request> REQUESTS = new ConcurrentLinkedQueue<>();
  private static final List<AutoCloseable> OPEN = new ArrayList<>();
  private static final WireMockServer WORKER =
      new WireMockServer(
          wireMockConfig()
              .dynamicPort()
              .dynamicHttpsPort()
              .bindAddress("127.0.0.1")
              .extensions(new Behaviour()));

  /**
   * One thing that is wrong.
   *
   * @param remedy what it must name; empty where nothing is to be done
   */
  private record Case(Code code, String application, String remedy) {

    @Override
    public String toString() {
      return application + " is " + code.word();
    }
  }

  private static final List<Case> CASES =
      List.of(
          new Case(Code.REACHED, "well", ""),
          new Case(Code.REACHED, "allows", ""),
          new Case(Code.REACHED, "versatile", ""),
          new Case(Code.UNPROVEN, "polyglot", "punctual.callback-path"),
          new Case(Code.NO_PING, "old", "scheduler-client-starter"),
          new Case(Code.NO_PING, "silent", "scheduler-client-starter"),
          new Case(Code.CLOCK_OFF, "ahead", "NTP"),
          new Case(Code.CLOCK_OFF, "behind", "NTP"),
          new Case(Code.UNAVAILABLE, "leaving", "server.port"),
          new Case(Code.UNKNOWN_HOST, "nowhere", "registry must show an address"),
          new Case(Code.ADDRESS_NOT_ALLOWED, "forbidden", "punctual.dispatch.allowed-networks"),
          new Case(Code.CONNECTION_REFUSED, "refused", "port in the registry"),
          new Case(Code.CONNECTION_TIMEOUT, "black-hole", "registry must show an address"),
          new Case(Code.NO_ROUTE, "unreachable", "registry must show an address"),
          new Case(Code.NO_ANSWER, "hanging", "port in the registry"),
          new Case(Code.NOT_HTTP, "garbage", "port in the registry"),
          new Case(Code.TLS_TO_PLAIN_PORT, "plain", "as one without TLS"),
          new Case(Code.PLAIN_TO_TLS_PORT, "secure", "as one with TLS"),
          new Case(Code.CERTIFICATE_NOT_TRUSTED, "stranger", "punctual.dispatch.ssl-bundle"),
          new Case(Code.WRONG_PATH, "path", "server.servlet.context-path"),
          new Case(Code.NOT_A_CALLBACK, "page", "punctual.callback.path"),
          new Case(Code.NOT_A_CALLBACK, "getter", "punctual.callback.path"),
          new Case(Code.LOGIN_IN_FRONT, "login401", "punctual.callback.path"),
          new Case(Code.LOGIN_IN_FRONT, "login302", "punctual.callback.path"),
          new Case(Code.REDIRECTED, "redirected", "as one with TLS"),
          new Case(Code.OTHER_APPLICATION, "others421", "punctual.application"),
          new Case(Code.OTHER_APPLICATION, "others", "punctual.application"),
          new Case(Code.WORKER_WITHOUT_KEY, "keyless", "punctual.callback.secrets"),
          new Case(Code.SCHEDULER_WITHOUT_KEY, "unsigned", "punctual.security.signing-keys"),
          new Case(Code.KEYS_DIFFER, "differ", "punctual.callback.secrets"),
          new Case(Code.CLOCKS_APART, "apart", "NTP"),
          new Case(Code.ANSWER_NOT_SIGNED, "bare", "punctual.security.unsigned-answers"),
          new Case(Code.ANSWER_NOT_SIGNED, "mute", "punctual-signature"),
          new Case(Code.ANSWER_OF_ANOTHER_KEY, "passed-on", "/callback/passed-on"),
          new Case(Code.ANSWER_OF_ANOTHER_KEY, "impostor", "punctual.callback.secrets"),
          new Case(Code.NO_TASK_TYPES, "typeless", "punctual.task-types"),
          new Case(Code.SERVER_ERROR, "broken", "punctual.callback.path"));

  private static final class Behaviour implements ResponseDefinitionTransformerV2 {

    @Override
    public ResponseDefinition transform(ServeEvent event) {
      Request request = event.getRequest();
      REQUESTS.add(request);
      return BEHAVIOUR.getOrDefault(request.getUrl(), any -> status(503)).apply(request).build();
    }

    @Override
    public String getName() {
      return "behaviour";
    }
  }

  @DynamicPropertySource
  static void instances(DynamicPropertyRegistry registry) throws IOException {
    WORKER.start();
    WORKER.stubFor(any(anyUrl()));
    InetAddress here = InetAddress.getLoopbackAddress();
    int closed = Ports.free();
    // Nobody takes what connects: it waits for an answer.
    ServerSocket hanging = open(new ServerSocket(0, 50, here));
    Map<String, String> elsewhere =
        Map.of(
            "nowhere", "http://there-is-no-such-host.invalid:8080",
            "forbidden", "http://169.254.169.254:80",
            "refused", "http://127.0.0.1:" + closed,
            "black-hole", "http://127.0.0.1:" + full(here).getLocalPort(),
            // The address of everybody is none that can be connected to.
            "unreachable", "http://255.255.255.255:80",
            "hanging", "http://127.0.0.1:" + hanging.getLocalPort(),
            "garbage", "http://127.0.0.1:" + garbage(here).getLocalPort(),
            "plain", "https://127.0.0.1:" + WORKER.port(),
            "secure", "http://127.0.0.1:" + WORKER.httpsPort(),
            "stranger", "https://127.0.0.1:" + WORKER.httpsPort());
    Set<String> singles = Set.of("polyglot", "allows", "jobless", "mute", "passed-on");
    Stream.concat(CASES.stream().map(Case::application), Stream.of("jobless", "moved", "once"))
        .forEach(
            app -> {
              instance(registry, app, 0, WORKER.port(), singles.contains(app) ? "single" : "batch");
              if (app.equals("typeless")) {
                registry.add(
                    "spring.cloud.discovery.client.simple.instances.typeless[0].metadata"
                        + "[punctual.task-types]",
                    () -> "");
              }
              if (elsewhere.containsKey(app)) {
                String uri = elsewhere.get(app);
                registry.add(
                    "spring.cloud.discovery.client.simple.instances." + app + "[0].uri", () -> uri);
              }
            });
    behaveBadly();
  }

  private static void behaveBadly() {
    on("well", request -> pong("well", Duration.ZERO, request, MASTER, "well"));
    on("versatile", request -> pong("versatile", Duration.ZERO, request, MASTER, "versatile"));
    on("allows", request -> proof(request, "allows"));
    on("passed-on", request -> proof(request, "allows"));
    on("mute", request -> status(204).withHeader("Allow", "POST"));
    on("polyglot", request -> status(404));
    on(
        "old",
        request -> status(400).withBody("the body is not a callback of a Punctual scheduler"));
    on("silent", request -> status(200));
    on("ahead", request -> pong("ahead", Duration.ofMinutes(2), request, MASTER, "ahead"));
    on("behind", request -> pong("behind", Duration.ofMinutes(-2), request, MASTER, "behind"));
    on("leaving", request -> status(503).withBody("this instance is shutting down"));
    on("path", request -> status(404));
    on("page", request -> status(200).withBody(HTML));
    on("getter", request -> status(405).withHeader("Allow", "GET"));
    on("login401", request -> status(401).withHeader("WWW-Authenticate", "Basic"));
    on("login302", request -> status(302).withHeader("Location", "/shop/login"));
    on(
        "redirected",
        request -> status(308).withHeader("Location", "https://127.0.0.1/callback/redirected"));
    on("others421", request -> status(421).withBody("this is bank"));
    on("others", request -> pong("bank", Duration.ZERO, request, MASTER, "others"));
    on("keyless", request -> refusal(CallbackRefusal.NO_KEY));
    on("unsigned", request -> refusal(CallbackRefusal.UNSIGNED));
    on("differ", request -> refusal(CallbackRefusal.WRONG_SIGNATURE));
    on("apart", request -> refusal(CallbackRefusal.CLOCK));
    on("bare", request -> status(200).withBody(line("bare", Duration.ZERO)));
    on("impostor", request -> pong("impostor", Duration.ZERO, request, MASTER, "well"));
    on("typeless", request -> pong("typeless", Duration.ZERO, request, MASTER, "typeless"));
    on("broken", request -> status(500));
    on("jobless", request -> status(405).withHeader("Allow", "POST"));
    on("moved", request -> pong("moved", Duration.ZERO, request, MASTER, "moved"));
    on(
        "once",
        request ->
            isPing(request)
                ? pong("once", Duration.ZERO, request, MASTER, "once")
                : signed(done(request), request, MASTER, "once"));
  }

  /** A port on which no connection comes about: those that wait are not taken, and fill it. */
  private static ServerSocket full(InetAddress here) throws IOException {
    ServerSocket socket = open(new ServerSocket(0, 1, here));
    for (int i = 0; i < 4; i++) {
      Socket waiting = open(new Socket());
      try {
        waiting.connect(socket.getLocalSocketAddress(), 200);
      } catch (IOException e) {
        // It is full.
        break;
      }
    }
    return socket;
  }

  private static ServerSocket garbage(InetAddress here) throws IOException {
    ServerSocket socket = open(new ServerSocket(0, 50, here));
    Thread.ofVirtual()
        .start(
            () -> {
              while (!socket.isClosed()) {
                try (Socket client = socket.accept()) {
                  client.getOutputStream().write("SSH-2.0-Other_1.0\r\n".getBytes(UTF_8));
                  client.shutdownOutput();
                  client.setSoTimeout(100);
                  // Bytes that nobody has read would have the answer thrown away.
                  client.getInputStream().readNBytes(64 * 1024);
                } catch (IOException e) {
                  if (socket.isClosed()) {
                    return;
                  }
                }
              }
            });
    return socket;
  }

  private static <T extends AutoCloseable> T open(T resource) {
    OPEN.add(resource);
    return resource;
  }

  @AfterAll
  static void stop() throws Exception {
    WORKER.stop();
    for (AutoCloseable resource : OPEN) {
      resource.close();
    }
  }

  private static void on(String app, Function<Request, ResponseDefinitionBuilder> behaviour) {
    BEHAVIOUR.put("/callback/" + app, behaviour);
  }

  private static ResponseDefinitionBuilder status(int status) {
    return new ResponseDefinitionBuilder().withStatus(status);
  }

  private static ResponseDefinitionBuilder refusal(CallbackRefusal refusal) {
    return status(401).withHeader(CallbackRefusal.HEADER, refusal.word()).withBody("not so");
  }

  private static String line(String app, Duration ahead) {
    long time = Instant.now().plus(ahead).toEpochMilli();
    return JSON.writeValueAsString(new PingAnswer(app, time, "1.2.3", types(app), null, null))
        + "\n";
  }

  /** As many and as long ones as may be. */
  private static @Nullable List<String> types(String app) {
    return app.equals("versatile")
        ? IntStream.range(0, WorkerMetadata.MAX_TASK_TYPES)
            .mapToObj(i -> "t".repeat(Limits.MAX_NAME - 4) + (1000 + i))
            .toList()
        : null;
  }

  private static ResponseDefinitionBuilder pong(
      String app, Duration ahead, Request request, String master, String keyOf) {
    return signed(line(app, ahead), request, master, keyOf);
  }

  /** The answer of the application that it names, at its own address, to a ping without jobs. */
  private static ResponseDefinitionBuilder proof(Request ping, String app) {
    String address = "http://127.0.0.1:" + WORKER.port() + "/callback/" + app;
    String random = ping.getHeader(CallbackSignature.PING);
    String signature =
        CallbackSignature.sign(
            // That of the application at whose address it arrived: it has the right key.
            List.of(CallbackSignature.Key.derived(MASTER, ping.getUrl().substring(10))),
            CallbackSignature.PING_ID,
            CallbackSignature.PING_TIMESTAMP,
            CallbackSignature.pingContent(random, address).getBytes(UTF_8));
    return status(405).withHeader(CallbackSignature.ANSWER, signature);
  }

  private static ResponseDefinitionBuilder signed(
      String line, Request request, String master, String keyOf) {
    String signature =
        CallbackSignature.sign(
            List.of(CallbackSignature.Key.derived(master, keyOf)),
            CallbackSignature.answerId(request.getHeader(CallbackSignature.ID)),
            request.getHeader(CallbackSignature.TIMESTAMP),
            CallbackSignature.frame(0, line).getBytes(UTF_8));
    return status(200).withBody(line + CallbackSignature.line(signature) + "\n");
  }

  private static boolean isPing(Request request) {
    return JSON.readValue(request.getBody(), CallbackRequest.class).jobs().isEmpty();
  }

  /** Acknowledges the only job of a request. */
  private static String done(Request request) {
    CallbackRequest.Job job =
        JSON.readValue(request.getBody(), CallbackRequest.class).jobs().get(0);
    return JSON.writeValueAsString(
            new CallbackResult(job.taskId(), job.incarnation(), "done", null, null, null))
        + "\n";
  }

  private static List<Request> requests(String app) {
    return REQUESTS.stream().filter(r -> r.getUrl().equals("/callback/" + app)).toList();
  }

  private JsonNode probe(String app) {
    ApiClient.Answer answer =
        api.post(
            "/api/v1/workers:probe",
            "{\"application\":\"%s\",\"instance\":\"%s-0\"}".formatted(app, app));
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    return answer.body();
  }

  static Stream<Case> cases() {
    return CASES.stream();
  }

  @ParameterizedTest
  @MethodSource("cases")
  void whatIsInTheWayIsNamedWithItsCure(Case wrong) {
    JsonNode worker = probe(wrong.application());

    JsonNode probed = worker.get("probe");
    assertThat(probed.get("code").asString()).as(probed.toString()).isEqualTo(wrong.code().word());
    assertThat(probed.get("status").asString()).isEqualTo(wrong.code().status().word());
    assertThat(probed.get("message").asString()).isNotBlank();
    assertThat(probed.get("url").asString())
        .endsWith("/callback/" + wrong.application())
        .isEqualTo(worker.get("callback").asString());
    if (!wrong.remedy().isEmpty()) {
      assertThat(probed.get("remedy").asString()).contains(wrong.remedy());
    }
  }

  /** The two that are left need certificates of an authority: ProbeDiagnosisTest has them. */
  @Test
  void everyCodeIsSeenHere() {
    Set<Code> seen = CASES.stream().map(Case::code).collect(Collectors.toSet());
    assertThat(EnumSet.complementOf(EnumSet.copyOf(seen)))
        .containsExactlyInAnyOrder(Code.CERTIFICATE_OF_ANOTHER_NAME, Code.TLS_FAILED);
  }

  /** Before the remedy that opens the door for good: it may be an impostor. */
  @Test
  void ofAnInstanceThatDoesNotSignItIsFirstAskedWhoItIs() {
    assertThat(probe("bare").at("/probe/remedy").asString())
        .startsWith("Check whether this instance is yours");
  }

  @Test
  void aWorkerThatIsWellIsShownAsItIs() {
    JsonNode worker = probe("well");

    assertThat(worker.get("taskTypes").toString()).isEqualTo("[\"order.close\"]");
    assertThat(worker.get("protocol").asString()).isEqualTo("batch");
    assertThat(worker.get("concurrency").asInt()).isEqualTo(100);
    assertThat(worker.get("inFlight").asInt()).isZero();
    assertThat(worker.at("/probe/version").asString()).isEqualTo("1.2.3");
    assertThat(Math.abs(worker.at("/probe/clockAheadMs").asLong())).isLessThan(10_000);
    Request request = requests("well").get(0);
    assertThat(JSON.readValue(request.getBody(), CallbackRequest.class).jobs()).isEmpty();
    assertThat(request.getHeader("webhook-id")).matches("msg_[0-9a-f]{32}_[0-9]{13}");
  }

  @Test
  void eachIsProbedWithoutBeingAskedAndListedInPages() {
    Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(
            () ->
                assertThat(api.get("/api/v1/workers?limit=500").body().get("items"))
                    .hasSize(CASES.size() + 3)
                    .noneMatch(worker -> worker.get("probe").isNull()));
    List<String> paged = new ArrayList<>();
    String cursor = "";
    while (cursor != null) {
      JsonNode page = api.get("/api/v1/workers?limit=7" + cursor).body();
      page.get("items").forEach(item -> paged.add(item.get("application").asString()));
      cursor =
          page.get("nextCursor").isNull() ? null : "&cursor=" + page.get("nextCursor").asString();
    }
    assertThat(paged).hasSize(CASES.size() + 3).isSorted().doesNotHaveDuplicates();
    JsonNode one = api.get("/api/v1/workers?application=Well").body();
    assertThat(one.get("items")).hasSize(1);
    assertThat(one.at("/items/0/instance").asString()).isEqualTo("well-0");
    assertThat(api.get("/api/v1/workers?application=none").body().get("items")).isEmpty();
    JsonNode checks = api.get("/api/v1/doctor?application=refused").body().get("checks");
    assertThat(checks)
        .anySatisfy(
            check -> {
              assertThat(check.get("name").asString()).isEqualTo("worker");
              assertThat(check.get("message").asString())
                  .contains("refused-0", "connection-refused");
              assertThat(check.get("remedy").asString()).contains("port in the registry");
            });
  }

  @Test
  void whoIsNotInTheRegistryIsNotCalled() {
    for (String body :
        List.of(
            "{\"application\":\"none\",\"instance\":\"none-0\"}",
            "{\"application\":\"well\",\"instance\":\"well-1\"}")) {
      assertThat(api.post("/api/v1/workers:probe", body).status()).isEqualTo(404);
    }
    assertThat(api.post("/api/v1/workers:probe", "{\"application\":\"well\"}").status())
        .isEqualTo(400);
  }

  @Test
  void aWorkerOfAnotherLanguageIsSentNothingThatItCouldTakeForAJob() {
    probe("jobless");

    assertThat(requests("jobless"))
        .isNotEmpty()
        .allSatisfy(
            request -> {
              assertThat(request.getMethod().getName()).isEqualTo("OPTIONS");
              assertThat(request.getBody()).isEmpty();
              assertThat(request.getAllHeaderKeys())
                  .noneMatch(name -> name.matches("(?i)(ce-|webhook-).*"));
            });
  }

  @Test
  void whoDoesNotTakeJobsAnyMoreIsLookedAtAgain() {
    probe("moved");
    Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> code("moved").equals("reached"));
    on("moved", request -> status(404));
    String job =
        "{\"application\":\"moved\",\"taskType\":\"order.close\",\"taskId\":\"m\",\"delay\":0}";
    assertThat(api.post("/api/v1/jobs", job).status()).isEqualTo(201);

    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> code("moved").equals("wrong-path"));
    JsonNode worker = api.get("/api/v1/workers?application=moved").body().at("/items/0");
    assertThat(worker.get("lastCallError").asString()).contains("HTTP 404");
    assertThat(worker.get("avoidedUntil").isNull()).isFalse();
    JsonNode attempts = api.get("/api/v1/jobs/moved/order.close/m").body().get("attempts");
    assertThat(attempts.get("counted").asInt()).isZero();
    // The probe goes on meanwhile, and sees when it is well again.
    on("moved", request -> pong("moved", Duration.ZERO, request, MASTER, "moved"));
    Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> code("moved").equals("reached"));
  }

  /** The same answer proves its key, and says how it is. */
  @Test
  void anInstanceThatIsWellIsPingedOnceAndBeforeItGetsAJob() {
    String job =
        "{\"application\":\"once\",\"taskType\":\"order.close\",\"taskId\":\"o\",\"delay\":0}";
    assertThat(api.post("/api/v1/jobs", job).status()).isEqualTo(201);

    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () ->
                api.get("/api/v1/jobs/once/order.close/o")
                    .body()
                    .at("/state")
                    .asString()
                    .equals("finished"));
    Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> code("once").equals("reached"));
    assertThat(requests("once")).extracting(WorkerProbeIT::isPing).containsExactly(true, false);
  }

  private String code(String app) {
    return api.get("/api/v1/workers?application=" + app)
        .body()
        .at("/items/0/probe/code")
        .asString("");
  }
}
