package io.punctual.server;

import static com.github.tomakehurst.wiremock.client.WireMock.any;
import static com.github.tomakehurst.wiremock.client.WireMock.anyUrl;
import static com.github.tomakehurst.wiremock.core.WireMockConfiguration.wireMockConfig;
import static org.assertj.core.api.Assertions.assertThat;

import com.github.tomakehurst.wiremock.WireMockServer;
import com.github.tomakehurst.wiremock.client.ResponseDefinitionBuilder;
import com.github.tomakehurst.wiremock.extension.ResponseDefinitionTransformerV2;
import com.github.tomakehurst.wiremock.http.Request;
import com.github.tomakehurst.wiremock.http.RequestMethod;
import com.github.tomakehurst.wiremock.http.ResponseDefinition;
import com.github.tomakehurst.wiremock.stubbing.ServeEvent;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import io.punctual.wire.CallbackSignature;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiFunction;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Who sits at a worker's address without its key can not make a job disappear. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {
      "eureka.client.enabled=false",
      "punctual.security.signing-keys[0]=" + SignedCallbacksIT.MASTER,
      "punctual.security.signing-keys[1]=" + SignedCallbacksIT.OLD_MASTER,
      "punctual.security.unsigned-answers=trusting"
    })
class SignedCallbacksIT extends SharedRedisTestBase {

  static final String MASTER = "q8ZJ1n0LrXv4TtYw7uKcB2sM9dPfGh6a";
  static final String OLD_MASTER = "Lw3xTz6RbQ9nVm1KcYf8sJd0uHp5gEa2";
  private static final JsonMapper JSON = new JsonMapper();
  private static final String TYPE = "order.close";
  private static final Map<String, BiFunction<Request, Signer, ResponseDefinitionBuilder>>
      BEHAVIOUR = new ConcurrentHashMap<>();
  private static final Queue<Request> REQUESTS = new ConcurrentLinkedQueue<>();
  private static final Queue<Request> PINGS = new ConcurrentLinkedQueue<>();
  // With which the instances of an application sign pings; with none where it is empty.
  private static final Map<String, String> MASTERS =
      new ConcurrentHashMap<>(
          Map.of(
              "impostor", "",
              "registered", "",
              "stranger", "another secret of a stranger",
              "single-impostor", "",
              "single-registered", "",
              "single-stranger", "another secret of a stranger"));
  private static final WireMockServer WORKER =
      new WireMockServer(
          wireMockConfig().dynamicPort().bindAddress("127.0.0.1").extensions(new Behaviour()));

  private final String run = UUID.randomUUID().toString().substring(0, 8);

  /** Signs answers to one request. */
  private record Signer(Request request) {

    String sign(String master, String application, String content) {
      return CallbackSignature.sign(
          List.of(CallbackSignature.Key.derived(master, application)),
          CallbackSignature.answerId(request.getHeader(CallbackSignature.ID)),
          request.getHeader(CallbackSignature.TIMESTAMP),
          content.getBytes(StandardCharsets.UTF_8));
    }

    String line(String master, String application, int frame, String lines) {
      return CallbackSignature.line(
              sign(master, application, CallbackSignature.frame(frame, lines)))
          + "\n";
    }
  }

  /** The answer to a ping of the single protocol. */
  private static ResponseDefinition proof(Request ping, String app) {
    String master = MASTERS.getOrDefault(app, MASTER);
    ResponseDefinitionBuilder answer = new ResponseDefinitionBuilder().withStatus(204);
    if (!master.isEmpty()) {
      String random = ping.getHeader(CallbackSignature.PING);
      String content = CallbackSignature.pingContent(random, address(app));
      answer.withHeader(
          CallbackSignature.ANSWER,
          CallbackSignature.sign(
              List.of(CallbackSignature.Key.derived(master, app)),
              CallbackSignature.PING_ID,
              CallbackSignature.PING_TIMESTAMP,
              content.getBytes(StandardCharsets.UTF_8)));
    }
    return answer.build();
  }

  private static String address(String app) {
    return "http://127.0.0.1:" + WORKER.port() + "/callback/" + app;
  }

  private static final class Behaviour implements ResponseDefinitionTransformerV2 {

    @Override
    public ResponseDefinition transform(ServeEvent event) {
      Request sent = event.getRequest();
      String app = sent.getUrl().substring("/callback/".length());
      if (sent.getMethod().equals(RequestMethod.OPTIONS)) {
        PINGS.add(sent);
        return proof(sent, app);
      } else if (sent.getBodyAsString().endsWith("\"jobs\":[]}")) {
        PINGS.add(sent);
        String line = "{\"application\":\"" + app + "\"}\n";
        String master = MASTERS.getOrDefault(app, MASTER);
        return ok(master.isEmpty() ? line : line + new Signer(sent).line(master, app, 0, line))
            .build();
      }
      REQUESTS.add(sent);
      return BEHAVIOUR
          .getOrDefault(
              event.getRequest().getUrl(),
              (request, signer) -> new ResponseDefinitionBuilder().withStatus(503))
          .apply(event.getRequest(), new Signer(event.getRequest()))
          .build();
    }

    @Override
    public String getName() {
      return "behaviour";
    }
  }

  @DynamicPropertySource
  static void instances(DynamicPropertyRegistry registry) {
    WORKER.start();
    WORKER.stubFor(any(anyUrl()));
    for (String app :
        List.of(
            "right",
            "second",
            "frames",
            "plain",
            "wrong",
            "others",
            "cut",
            "moved",
            "trusting",
            "impostor",
            "stranger")) {
      instance(registry, app, 0, WORKER.port(), "batch");
    }
    for (String app :
        List.of(
            "single",
            "bare",
            "forged",
            "reflected",
            "rejected",
            "deferred",
            "undeferred",
            "redeferred",
            "stripped",
            "single-impostor",
            "single-stranger")) {
      instance(registry, app, 0, WORKER.port(), "single");
    }
  }

  @AfterAll
  static void stop() {
    WORKER.stop();
  }

  private void on(String app, BiFunction<Request, Signer, ResponseDefinitionBuilder> behaviour) {
    BEHAVIOUR.put("/callback/" + app, behaviour);
  }

  private static ResponseDefinitionBuilder ok(String body) {
    return new ResponseDefinitionBuilder().withStatus(200).withBody(body);
  }

  private static String done(Request request) {
    StringBuilder lines = new StringBuilder();
    for (CallbackRequest.Job job :
        JSON.readValue(request.getBody(), CallbackRequest.class).jobs()) {
      lines
          .append(
              JSON.writeValueAsString(
                  new CallbackResult(job.taskId(), job.incarnation(), "done", null, null, null)))
          .append('\n');
    }
    return lines.toString();
  }

  private void submit(String app, String params) {
    String job =
        JSON.writeValueAsString(
            Map.of(
                "application", app, "taskType", TYPE, "taskId", run, "params", params, "delay", 0));
    assertThat(api.post("/api/v1/jobs", job).status()).isEqualTo(201);
  }

  private JsonNode job(String app) {
    return api.get("/api/v1/jobs/" + app + "/" + TYPE + "/" + run).body();
  }

  private void isDone(String app) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> job(app).at("/state").asString().equals("finished"));
  }

  private void isNotDone(String app, String reason) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> !job(app).at("/lastError/message").isMissingNode());
    assertThat(job(app).at("/lastError/message").asString()).contains(reason);
    assertThat(job(app).at("/state").asString()).isNotEqualTo("finished");
  }

  @ParameterizedTest
  @CsvSource({"right, " + MASTER, "second, " + OLD_MASTER})
  void anAnswerWithTheApplicationsKeyCounts(String app, String master) {
    on(app, (request, signer) -> ok(done(request) + signer.line(master, app, 0, done(request))));
    submit(app, "");
    isDone(app);
    // What went out is signed with both keys, the raw bytes of it.
    Request request =
        REQUESTS.stream()
            .filter(r -> r.getUrl().equals("/callback/" + app))
            .findFirst()
            .orElseThrow();
    assertThat(request.getHeader("webhook-signature").split(" ")).hasSize(2);
    for (String key : List.of(MASTER, OLD_MASTER)) {
      assertThat(
              CallbackSignature.verify(
                  List.of(CallbackSignature.Key.derived(key, app)),
                  request.getHeader("webhook-signature"),
                  request.getHeader("webhook-id"),
                  request.getHeader("webhook-timestamp"),
                  request.getBody()))
          .isTrue();
    }
    assertThat(request.getHeader("webhook-id")).matches("msg_[0-9a-f]{32}_[0-9]{13}");
    assertThat(request.getHeader("Punctual-Application")).isEqualTo(app);
  }

  @ParameterizedTest
  @CsvSource({"deferred, 202 10m, 10m", "undeferred, 202, 10m", "redeferred, 202 10m, 20d"})
  void aDeferralCountsWithTheTimeThatIsSigned(String app, String signed, String sent) {
    on(
        app,
        (request, signer) ->
            new ResponseDefinitionBuilder()
                .withStatus(202)
                .withHeader("Punctual-Defer", sent)
                .withHeader(CallbackSignature.ANSWER, signer.sign(MASTER, app, signed)));
    submit(app, "");

    if (app.equals("deferred")) {
      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .until(
              () ->
                  Instant.parse(job(app).at("/lease/until").asString("1970-01-01T00:00:00Z"))
                      .isAfter(Instant.now().plusSeconds(500)));
      assertThat(job(app).at("/state").asString()).isEqualTo("reserved");
    } else {
      isNotDone(app, "is not signed with the key of this application");
    }
  }

  @Test
  void aDeferralWhoseHeaderWasTakenAwayIsNoEnd() {
    on(
        "stripped",
        (request, signer) ->
            new ResponseDefinitionBuilder()
                .withStatus(202)
                .withHeader(CallbackSignature.ANSWER, signer.sign(MASTER, "stripped", "202 10m")));
    submit("stripped", "");
    isNotDone("stripped", "is not signed with the key of this application");
  }

  @Test
  void anAnswerIsSignedPartByPart() {
    on(
        "frames",
        (request, signer) ->
            ok(
                "{}\n"
                    + signer.line(MASTER, "frames", 0, "{}\n")
                    + done(request)
                    + signer.line(MASTER, "frames", 1, done(request))));
    submit("frames", "");
    isDone("frames");
  }

  @Test
  void anAnswerWithoutSignatureDoesNot() {
    on("plain", (request, signer) -> ok(done(request)));
    submit("plain", "");
    isNotDone("plain", "the answer is not signed");
  }

  @Test
  void norOneWithAnotherKey() {
    on(
        "wrong",
        (request, signer) ->
            ok(
                done(request)
                    + signer.line("another secret of somebody else", "wrong", 0, done(request))));
    submit("wrong", "");
    isNotDone("wrong", "not signed with the key of this application");
    on(
        "others",
        (request, signer) -> ok(done(request) + signer.line(MASTER, "right", 0, done(request))));
    submit("others", "");
    isNotDone("others", "not signed with the key of this application");
  }

  @Test
  void norOneWhosePartsWereCutOutOrMoved() {
    on(
        "cut",
        (request, signer) -> ok(done(request) + signer.line(MASTER, "cut", 1, done(request))));
    submit("cut", "");
    isNotDone("cut", "not signed with the key of this application");
    on(
        "moved",
        (request, signer) -> ok(signer.line(MASTER, "moved", 0, done(request)) + done(request)));
    submit("moved", "");
    isNotDone("moved", "not signed with the key of this application");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "impostor",
        "stranger",
        "registered",
        "single-impostor",
        "single-stranger",
        "single-registered"
      })
  void anInstanceIsSentNoJobBeforeItShowedTheApplicationsKey(String app) {
    boolean single = app.startsWith("single-");
    if (app.endsWith("registered")) {
      register(app, single ? "single" : "batch");
    }
    on(
        app,
        (request, signer) ->
            single
                ? ok("").withHeader(CallbackSignature.ANSWER, signer.sign(MASTER, app, "200"))
                : ok(done(request) + signer.line(MASTER, app, 0, done(request))));
    submit(app, "for the application alone");
    Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> pings(app).size() > 2);
    assertThat(job(app).at("/state").asString()).isEqualTo("delayed");
    assertThat(job(app).at("/attempts/undeliverable").asInt()).isZero();
    assertThat(REQUESTS).noneMatch(request -> request.getUrl().equals("/callback/" + app));
    if (!single) {
      // The ping says which address was called, so that it cannot be passed on.
      assertThat(pings(app).get(0).getBodyAsString())
          .contains("\"address\":\"" + address(app) + "\"");
    }

    MASTERS.put(app, MASTER);
    isDone(app);
  }

  /** At the scheduler; the others stand in the configuration. */
  private void register(String app, String protocol) {
    String json =
        "{\"url\":\"%s\",\"taskTypes\":[\"%s\"],\"protocol\":\"%s\"}"
            .formatted(address(app), TYPE, protocol);
    assertThat(api.call("PUT", "/api/v1/workers/" + app + "/" + app + "-0", json, "").status())
        .isEqualTo(201);
  }

  private static List<Request> pings(String app) {
    return PINGS.stream().filter(ping -> ping.getUrl().equals("/callback/" + app)).toList();
  }

  @Test
  void unlessTheApplicationIsTrustedWithout() {
    on("trusting", (request, signer) -> ok(done(request)));
    submit("trusting", "");
    isDone("trusting");
  }

  @Test
  void aWorkerInAnyLanguageSignsItsStatus() {
    on(
        "single",
        (request, signer) ->
            ok("").withHeader(CallbackSignature.ANSWER, signer.sign(MASTER, "single", "200")));
    submit("single", "");
    isDone("single");
    on("bare", (request, signer) -> ok(""));
    submit("bare", "");
    isNotDone("bare", "is not signed");
    on(
        "forged",
        (request, signer) ->
            ok("").withHeader(CallbackSignature.ANSWER, signer.sign(MASTER, "single", "200")));
    submit("forged", "");
    isNotDone("forged", "is not signed");
  }

  @Test
  void theRequestsOwnSignatureIsNoneOfAnAnswer() {
    on(
        "reflected",
        (request, signer) ->
            ok("")
                .withHeader(
                    CallbackSignature.ANSWER, request.getHeader(CallbackSignature.SIGNATURE)));
    submit("reflected", "200");
    isNotDone("reflected", "is not signed");
  }

  @Test
  void aRejectionMustBeSignedToo() {
    on("rejected", (request, signer) -> new ResponseDefinitionBuilder().withStatus(422));
    submit("rejected", "");
    isNotDone("rejected", "is not signed");
    assertThat(job("rejected").at("/state").asString()).isNotEqualTo("dead");
  }
}
