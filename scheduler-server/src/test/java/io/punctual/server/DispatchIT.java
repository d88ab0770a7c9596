package io.punctual.server;

import static com.github.tomakehurst.wiremock.client.WireMock.any;
import static com.github.tomakehurst.wiremock.client.WireMock.anyUrl;
import static com.github.tomakehurst.wiremock.client.WireMock.postRequestedFor;
import static com.github.tomakehurst.wiremock.client.WireMock.urlPathEqualTo;
import static com.github.tomakehurst.wiremock.core.WireMockConfiguration.wireMockConfig;
import static org.assertj.core.api.Assertions.assertThat;

import com.github.tomakehurst.wiremock.WireMockServer;
import com.github.tomakehurst.wiremock.client.ResponseDefinitionBuilder;
import com.github.tomakehurst.wiremock.extension.ResponseDefinitionTransformerV2;
import com.github.tomakehurst.wiremock.http.ResponseDefinition;
import com.github.tomakehurst.wiremock.stubbing.ServeEvent;
import com.github.tomakehurst.wiremock.verification.LoggedRequest;
import io.punctual.redis.Ports;
import io.punctual.server.ApiClient.Answer;
import io.punctual.server.dispatch.HttpDispatcher;
import io.punctual.server.dispatch.ShortDispatchTimes;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What becomes of jobs when the instances that should run them misbehave. */
@Import(ShortDispatchTimes.class)
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {"eureka.client.enabled=false", "punctual.dispatch.circuit.failures=20"})
class DispatchIT extends SharedRedisTestBase {

  private static final JsonMapper JSON = new JsonMapper();
  private static final String TYPE = "order.close";
  private static final String OTHER_TYPE = "order.remind";
  private static final Map<String, Function<String, ResponseDefinitionBuilder>> BEHAVIOUR =
      new ConcurrentHashMap<>();
  private static final WireMockServer WORKER =
      new WireMockServer(
          wireMockConfig().dynamicPort().bindAddress("127.0.0.1").extensions(new Behaviour()));
  private static final StreamingWorker STREAMING = streaming();
  private static int restarted;

  @Autowired private HttpDispatcher dispatcher;
  private final String run = UUID.randomUUID().toString().substring(0, 8);

  /** Answers as the running test wants it for that path. */
  private static final class Behaviour implements ResponseDefinitionTransformerV2 {

    @Override
    public ResponseDefinition transform(ServeEvent event) {
      String request = event.getRequest().getBodyAsString();
      if (request.contains("\"jobs\":[]")) {
        // The doctor's.
        return status(200).build();
      }
      return BEHAVIOUR
          .getOrDefault(event.getRequest().getUrl(), body -> status(500))
          .apply(request)
          .build();
    }

    @Override
    public String getName() {
      return "behaviour";
    }
  }

  private static StreamingWorker streaming() {
    try {
      return new StreamingWorker();
    } catch (IOException e) {
      throw new AssertionError("no port", e);
    }
  }

  // One application for each test, so that what the scheduler learns of one harms no other.
  @DynamicPropertySource
  static void instances(DynamicPropertyRegistry registry) {
    WORKER.start();
    WORKER.stubFor(any(anyUrl()));
    for (String app :
        new String[] {
          "done",
          "error",
          "busy",
          "redirect",
          "s404",
          "s401",
          "clock",
          "s421",
          "s503",
          "half",
          "garbage",
          "empty",
          "long",
          "nothing",
          "late",
          "broken",
          "retried"
        }) {
      instance(registry, app, 0, WORKER.port(), "batch");
    }
    for (String app :
        new String[] {
          "cloud",
          "reject",
          "later429",
          "later503",
          "s410",
          "retired",
          "single421",
          "moved",
          "defers",
          "defers-badly"
        }) {
      instance(registry, app, 0, WORKER.port(), "single");
    }
    for (String app :
        new String[] {
          "cut", "slow", "hang", "extended", "asked", "deferred", "lengthy", "two", "backlog"
        }) {
      instance(registry, app, 0, STREAMING.port(), "batch");
    }
    registry.add(
        "spring.cloud.discovery.client.simple.instances.two[0].metadata[punctual.task-types]",
        () -> TYPE + "," + OTHER_TYPE);
    registry.add(
        "spring.cloud.discovery.client.simple.instances.retired[0].metadata[punctual.task-types]",
        () -> TYPE + "," + OTHER_TYPE);
    int closed = Ports.free();
    instance(registry, "pair", 0, closed, "batch");
    instance(registry, "gone", 0, closed, "batch");
    instance(registry, "pair", 1, WORKER.port(), "batch");
    for (String app : new String[] {"hung", "lost", "grave"}) {
      instance(registry, app, 0, STREAMING.port(), "batch");
      instance(registry, app, 1, STREAMING.port(), "batch");
    }
    restarted = Ports.free();
    instance(registry, "restarted", 0, restarted, "batch");
  }

  @AfterEach
  void nothingIsHeldForJobsThatEnded() {
    eventually()
        .untilAsserted(
            () -> {
              assertThat(dispatcher.inMemory().inFlight()).isZero();
              assertThat(dispatcher.inMemory().answerBytes()).isZero();
            });
  }

  @AfterAll
  static void stopWorkers() {
    WORKER.stop();
    STREAMING.close();
  }

  @Test
  void aDoneLineFinishesTheJob() {
    on("done", lines(job -> line(job, "done")));

    submit("done", 3);

    finished("done", 0, 1, 2);
    CallbackRequest.Job job = batches("done").get(0).jobs().get(0);
    assertThat(batches("done").get(0).application()).isEqualTo("done");
    assertThat(batches("done").get(0).instance()).isEqualTo("done-0");
    JsonNode finished = get("done", 0).at("/finishedBy");
    assertThat(finished.at("/instance").asString()).isEqualTo("done-0");
    assertThat(finished.at("/attempt").asInt()).isEqualTo(1);
    assertThat(finished.at("/lateMs").asLong()).isBetween(0L, 60_000L);
    assertThat(finished.at("/durationMs").asLong()).isBetween(0L, 60_000L);
    assertThat(job.attempt()).isEqualTo(1);
    assertThat(job.params()).isEqualTo("{\"n\":1}");
    assertThat(job.headers()).containsEntry("trace", "abc");
  }

  @Test
  void aRetryIsLateSinceItsOwnDueTime() {
    on(
        "retried",
        lines(
            job ->
                job.attempt() > 1
                    ? line(job, "done")
                    : JSON.writeValueAsString(
                        new CallbackResult(
                            job.taskId(), job.incarnation(), "retry", 300L, null, null))));

    submit("retried", 1);

    finished("retried", 0);
    List<CallbackRequest.Job> attempts =
        batches("retried").stream().flatMap(batch -> batch.jobs().stream()).toList();
    assertThat(attempts).hasSize(2);
    CallbackRequest.Job first = attempts.get(0);
    CallbackRequest.Job retry = attempts.get(1);
    assertThat(first.lateSince()).isEqualTo(first.dueTime());
    assertThat(retry.dueTime()).isEqualTo(first.dueTime());
    assertThat(retry.lateSince()).isBetween(first.claimedAt() + 300, retry.claimedAt());
    assertThat(get("retried", 0).at("/finishedBy/lateMs").asLong())
        .isEqualTo(retry.claimedAt() - Objects.requireNonNull(retry.lateSince()));
  }

  @Test
  void anErrorOfTheInstanceCountsAsFailure() {
    on("error", body -> status(500));

    submit("error", 2);

    JsonNode job = tried("error", 0);
    assertThat(job.at("/attempts/failed").asInt()).isEqualTo(1);
    assertThat(job.at("/attempts/counted").asInt()).isEqualTo(1);
    assertThat(job.at("/lastError/message").asString()).contains("HTTP 500");
    assertThat(job.at("/lastError/instance").asString()).isEqualTo("error-0");
  }

  @Test
  void aBusyInstanceIsAskedAgainWhenItSaid() {
    on("busy", body -> status(429).withHeader("Retry-After", "7200"));

    submit("busy", 1);

    assertThat(tried("busy", 0).at("/attempts/failed").asInt()).isEqualTo(1);
    dueIn("busy", Duration.ofHours(2));
  }

  @ParameterizedTest
  @ValueSource(strings = {"redirect", "moved"})
  void aRedirectIsAFailureAndNotFollowed(String app) {
    on(app, body -> status(307).withHeader("Location", "/elsewhere-" + app));

    submit(app, 1);

    JsonNode job = tried(app, 0);
    assertThat(job.at("/attempts/failed").asInt()).isEqualTo(1);
    assertThat(job.at("/lastError/message").asString()).contains("redirects are not followed");
    assertThat(WORKER.findAll(postRequestedFor(urlPathEqualTo("/elsewhere-" + app)))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"s404", "s401", "s421", "s503", "s410", "single421"})
  void anInstanceThatTakesNoJobsCostsNoAttempt(String app) {
    int status = Integer.parseInt(app.replaceAll("\\D", ""));
    on(app, body -> status(status));

    submit(app, 1);

    eventually()
        .untilAsserted(
            () -> assertThat(get(app, 0).at("/attempts/undeliverable").asInt()).isPositive());
    JsonNode job = get(app, 0);
    assertThat(job.at("/attempts/failed").asInt()).isZero();
    assertThat(job.at("/attempts/unknown").asInt()).isZero();
    assertThat(job.at("/attempts/counted").asInt()).isZero();
    assertThat(job.at("/lastError/message").asString()).contains("HTTP " + status);
  }

  @Test
  void anInstanceThatWantsNoMoreJobsOfOneTypeGetsThoseOfAnother() {
    on("retired", body -> status(body.contains(OTHER_TYPE) ? 200 : 410));

    submit("retired", 1);
    eventually().until(() -> attempts("retired", 0, "undeliverable") > 0);

    for (int i = 0; i < 5; i++) {
      String job =
          """
          {"application":"retired","taskType":"%s","taskId":"%s","delay":0,"params":"%s"}
          """
              .formatted(OTHER_TYPE, id(i), OTHER_TYPE);
      assertThat(api.post("/api/v1/jobs", job).status()).isEqualTo(201);
      String location = "/api/v1/jobs/retired/" + OTHER_TYPE + "/" + id(i);
      eventually().until(() -> api.get(location).at("/state").equals("finished"));
      assertThat(api.get(location).body().at("/attempts/undeliverable").asInt()).isZero();
    }
    assertThat(worker("retired", "retired-0").get("avoidedUntil").isNull()).isTrue();
    assertThat(state("retired", 0)).isEqualTo("delayed");
  }

  @Test
  void anInstanceWhoseClockIsApartIsNamedForThat() {
    on("clock", body -> status(401).withHeader("Punctual-Refusal", "clock"));

    submit("clock", 1);

    eventually()
        .untilAsserted(
            () ->
                assertThat(get("clock", 0).at("/lastError/message").asString())
                    .contains("HTTP 401", "more than 300 s apart", "NTP")
                    .doesNotContain("security"));
  }

  @Test
  void jobsWithoutALineAreUnknownAndTravelAloneNextTime() {
    on(
        "half",
        body -> {
          List<CallbackRequest.Job> jobs = read(body).jobs();
          // The last line was cut, so it does not count.
          return jobs.size() == 1
              ? ok(line(jobs.get(0), "done"))
              : ok(line(jobs.get(0), "done") + line(jobs.get(1), "done").strip());
        });

    submit("half", 3);

    eventually().untilAsserted(() -> assertThat(batches("half")).isNotEmpty());
    assertThat(batches("half").get(0).jobs()).hasSize(3);
    String first = batches("half").get(0).jobs().get(0).taskId();
    finished("half", 0, 1, 2);
    assertThat(batches("half")).hasSize(3);
    assertThat(batches("half").stream().skip(1))
        .allSatisfy(
            request -> {
              assertThat(request.jobs()).hasSize(1);
              assertThat(request.jobs().get(0).attempt()).isEqualTo(2);
              assertThat(request.jobs().get(0).taskId()).isNotEqualTo(first);
            });
  }

  @Test
  void aConnectionThatIsCutKeepsTheLinesThatCame() {
    STREAMING.on(
        path("cut"),
        (request, out) -> {
          out.write(utf8(line(request.jobs().get(0), "done")));
          out.flush();
          if (request.jobs().size() > 1) {
            throw new IOException("cut");
          }
        });

    submit("cut", 3);

    finished("cut", 0, 1, 2);
    List<CallbackRequest> requests = STREAMING.requests(path("cut"));
    assertThat(requests.stream().map(request -> request.jobs().size())).containsExactly(3, 1, 1);
    assertThat(api.get("/actuator/prometheus").text())
        .contains(
            "punctual_jobs_redeliveries_total"
                + "{application=\"cut\",cause=\"answer_lost\",task_type=\"order.close\"} 2.0");
  }

  @Test
  void linesThatMakeNoSenseAreIgnored() {
    on(
        "garbage",
        lines(
            job ->
                Stream.of(
                        "garbage",
                        "",
                        "null",
                        "17",
                        "[]",
                        "{}",
                        "{\"taskId\":null,\"incarnation\":null,\"outcome\":\"done\"}",
                        "{\"taskId\":\"" + job.taskId() + "\",\"outcome\":\"done\"}",
                        line(job, "whatever").strip(),
                        JSON.writeValueAsString(
                            new CallbackResult(
                                "other", job.incarnation(), "done", null, null, null)),
                        JSON.writeValueAsString(
                            Map.of("taskId", job.taskId(), "incarnation", job.incarnation())),
                        JSON.writeValueAsString(
                            Map.of(
                                "taskId",
                                job.taskId(),
                                "incarnation",
                                job.incarnation(),
                                "outcome",
                                "retry",
                                "retryAfterMs",
                                "soon")),
                        line(job, "done").strip(),
                        line(job, "retry").strip())
                    .collect(Collectors.joining("\r\n", "", "\r\n"))));

    submit("garbage", 2);

    finished("garbage", 0, 1);
    assertThat(batches("garbage")).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"empty", "nothing", "long"})
  void anAnswerWithoutLinesLeavesTheJobUnknown(String app) {
    on(
        app,
        body ->
            switch (app) {
              case "empty" -> ok("");
              case "nothing" -> ok("\n\n\n");
              default -> ok("x".repeat(70_000) + "\n" + line(read(body).jobs().get(0), "done"));
            });

    submit(app, 1);

    JsonNode job = tried(app, 0);
    assertThat(job.at("/attempts/unknown").asInt()).isEqualTo(1);
    assertThat(job.at("/attempts/failed").asInt()).isZero();
    assertThat(job.at("/lastError/message").asString())
        .contains(app.equals("long") ? "longer than" : "without a line");
  }

  @Test
  void aSlowJobHoldsNobodyElseUp() {
    CountDownLatch goOn = new CountDownLatch(1);
    STREAMING.on(
        path("slow"),
        (request, out) -> {
          for (CallbackRequest.Job job : request.jobs()) {
            if (job.taskId().endsWith("-2")) {
              goOn.await();
            }
            out.write(utf8(line(job, "done")));
            out.flush();
          }
        });

    submit("slow", 3);

    eventually()
        .untilAsserted(
            () ->
                assertThat(IntStream.range(0, 2).mapToObj(i -> state("slow", i)))
                    .containsOnly("finished"));
    assertThat(state("slow", 2)).isEqualTo("reserved");
    Answer cancelled = api.delete(location("slow", 2));
    assertThat(cancelled.status()).isEqualTo(409);
    assertThat(cancelled.at("/state")).isEqualTo("reserved");
    goOn.countDown();
    finished("slow", 2);
  }

  @Test
  void aJobThatTakesLongerThanItsTimeToRunIsUnknown() {
    CountDownLatch never = new CountDownLatch(1);
    STREAMING.on(path("hang"), (request, out) -> never.await());

    submit("hang", 1, ",\"timeToRun\":1000");

    JsonNode job = tried("hang", 0);
    assertThat(job.at("/attempts/unknown").asInt()).isEqualTo(1);
    assertThat(job.at("/lastError/message").asString()).contains("time-to-run");
    never.countDown();
  }

  @Test
  void aJobThatAsksForMoreTimeGetsItAndNoMore() throws Exception {
    CountDownLatch more = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    STREAMING.on(
        path("extended"),
        (request, out) -> {
          for (CallbackRequest.Job job : request.jobs()) {
            // A second time asks for less, which takes nothing away.
            for (long millis : new long[] {job.taskId().endsWith("-0") ? 60_000 : 4_000, 1_000}) {
              out.write(utf8(extended(job, millis)));
            }
          }
          out.flush();
          end.await();
          for (CallbackRequest.Job job : request.jobs()) {
            out.write(utf8(line(job, "done")));
          }
          more.countDown();
        });

    submit("extended", 2, ",\"timeToRun\":3000");

    // Both are beyond their time-to-run when the second one has used up what it asked for.
    JsonNode second = tried("extended", 1);
    assertThat(second.at("/lastError/message").asString())
        .contains("time-to-run of PT3S", "and with what it asked for");
    assertThat(second.at("/lastError/durationMs").asLong()).isGreaterThanOrEqualTo(3_900);
    assertThat(state("extended", 0)).isEqualTo("reserved");
    end.countDown();
    assertThat(more.await(20, TimeUnit.SECONDS)).isTrue();
    finished("extended", 0, 1);
    assertThat(STREAMING.requests(path("extended")).get(0).jobs())
        .allSatisfy(job -> assertThat(job.token()).isNotEmpty());
  }

  private static String extended(CallbackRequest.Job job, long millis) {
    return JSON.writeValueAsString(CallbackResult.extended(job.taskId(), job.incarnation(), millis))
        + "\n";
  }

  @Test
  void aDeferredLineLeavesTheJobToWhoeverHasItsToken() {
    STREAMING.on(
        path("deferred"),
        (request, out) -> {
          for (CallbackRequest.Job job : request.jobs()) {
            out.write(
                utf8(
                    JSON.writeValueAsString(
                            new CallbackResult(
                                job.taskId(), job.incarnation(), "deferred", null, null, 600_000L))
                        + "\n"));
          }
        });

    submit("deferred", 3, ",\"timeToRun\":60000");

    for (int i = 0; i < 3; i++) {
      int job = i;
      eventually().until(() -> heldFor("deferred", job).compareTo(Duration.ofMinutes(9)) > 0);
    }
    Map<String, String> tokens =
        STREAMING.requests(path("deferred")).stream()
            .flatMap(request -> request.jobs().stream())
            .collect(
                Collectors.toMap(CallbackRequest.Job::taskId, job -> String.valueOf(job.token())));
    end(tokens, 0, "ack", "{}");
    end(tokens, 1, "nack", "{\"error\":\"the partner said no\",\"delay\":\"1h\"}");
    Answer more =
        api.post("/api/v1/claims/" + tokens.get(id(2)) + "/extend", "{\"timeToRun\":\"20d\"}");
    assertThat(more.status()).isEqualTo(200);

    finished("deferred", 0);
    assertThat(state("deferred", 1)).isEqualTo("delayed");
    assertThat(get("deferred", 1).at("/lastError/message").asString())
        .isEqualTo("the partner said no");
    assertThat(heldFor("deferred", 2)).isGreaterThan(Duration.ofDays(19));
    assertThat(STREAMING.requests(path("deferred")).stream().mapToInt(r -> r.jobs().size()).sum())
        .isEqualTo(3);
  }

  private void end(Map<String, String> tokens, int job, String how, String body) {
    Answer answer = api.post("/api/v1/claims/" + tokens.get(id(job)) + "/" + how, body);
    assertThat(answer.status()).as(how).isEqualTo(200);
  }

  /** For how long the job's lease lasts from now on. */
  private Duration heldFor(String app, int i) {
    JsonNode until = get(app, i).at("/lease/until");
    return until.isMissingNode()
        ? Duration.ZERO
        : Duration.between(Instant.now(), Instant.parse(until.asString()));
  }

  @Test
  void aSingleInstanceDefersByAHeader() {
    on("defers", body -> status(202).withHeader("Punctual-Defer", "10m"));
    on("defers-badly", body -> status(202).withHeader("Punctual-Defer", "soon"));

    submit("defers", 1);
    submit("defers-badly", 1);

    eventually().until(() -> heldFor("defers", 0).compareTo(Duration.ofMinutes(9)) > 0);
    String token = requests("defers").get(0).getHeader("Punctual-Token");
    assertThat(api.post("/api/v1/claims/" + token + "/ack", "").status()).isEqualTo(200);
    finished("defers", 0);
    assertThat(tried("defers-badly", 0).at("/lastError/message").asString())
        .contains("Punctual-Defer", "such as 10m");
  }

  @Test
  void aRunningJobCanBeAskedForByItsToken() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    STREAMING.on(
        path("asked"),
        (request, out) -> {
          end.await();
          out.write(utf8(line(request.jobs().get(0), "done")));
        });
    submit("asked", 1);
    eventually().until(() -> STREAMING.requests(path("asked")).size() == 1);
    String token =
        Objects.requireNonNull(STREAMING.requests(path("asked")).get(0).jobs().get(0).token());

    Answer mine = api.post("/api/v1/claims/" + token + "/extend", "{\"timeToRun\":1000}");
    assertThat(mine.status()).isEqualTo(200);
    end.countDown();
    finished("asked", 0);
    assertThat(api.post("/api/v1/claims/" + token + "/extend", "{\"timeToRun\":1000}").status())
        .isEqualTo(409);
  }

  @Test
  void anApplicationInWhichEverythingFailsIsLeftAloneAndEasedIn() {
    on("broken", body -> status(500));
    String jobs =
        IntStream.range(0, 60)
            .mapToObj(i -> job("broken", i, "").replace("1h,1h", "10ms;attempts=1000"))
            .collect(Collectors.joining(","));
    assertThat(submitTogether("broken", jobs).status()).isEqualTo(200);

    eventually().until(() -> queue("broken").get("circuitOpen").asBoolean());
    assertThat(api.get("/actuator/health").body().at("/components/circuits/status").asString())
        .isEqualTo("WARNING");
    // The circuit opens with the answer; what was sent by then is counted a little later.
    eventually().until(() -> failures("broken") == sent("broken"));
    int failed = failures("broken");
    int requests = batches("broken").size();
    eventually().until(() -> batches("broken").size() >= requests + 3);
    // Each of these is a single job that probes: the others wait and lose nothing.
    assertThat(batches("broken").stream().skip(requests))
        .allSatisfy(request -> assertThat(request.jobs()).hasSize(1));
    assertThat(failures("broken")).isLessThan(failed + 20);

    on("broken", lines(job -> line(job, "done")));
    eventually().until(() -> queue("broken").at("/counters/done").asInt() == 60);
    assertThat(queue("broken").get("circuitOpen").asBoolean()).isFalse();
    List<Integer> sizes =
        batches("broken").stream()
            .dropWhile(request -> request.jobs().size() > 1)
            .map(request -> request.jobs().size())
            .toList();
    assertThat(sizes).allMatch(size -> size < 60);
  }

  @Test
  void aBacklogIsEasedIn() {
    CountDownLatch answers = new CountDownLatch(1);
    STREAMING.on(
        path("backlog"),
        (request, out) -> {
          answers.await();
          for (CallbackRequest.Job job : request.jobs()) {
            out.write(line(job, "done").getBytes(StandardCharsets.UTF_8));
          }
        });
    String jobs =
        IntStream.range(0, 60)
            .mapToObj(i -> job("backlog", i, ""))
            .collect(Collectors.joining(","));
    String queue = "/api/v1/queues/backlog/" + TYPE;
    // A pause is as good as an outage.
    pause("backlog");
    assertThat(api.post("/api/v1/jobs/batch", "{\"jobs\":[" + jobs + "]}").status()).isEqualTo(200);
    eventually().until(() -> queue("backlog").get("oldestReadyAgeMs").asLong(0) >= 5_000);

    assertThat(api.post(queue + "/resume", "").status()).isEqualTo(200);
    eventually().until(() -> queue("backlog").get("reserved").asInt() == 4);
    assertThat(queue("backlog").get("ready").asInt()).isEqualTo(56);
    answers.countDown();
    eventually().until(() -> queue("backlog").at("/counters/done").asInt() == 60);
    List<Integer> sizes =
        STREAMING.requests(path("backlog")).stream().map(call -> call.jobs().size()).toList();
    assertThat(sizes.get(0)).isEqualTo(4);
    assertThat(sizes).allMatch(size -> size < 56);
  }

  @Test
  void aLongJobThatWasSentBeforeTheCircuitOpenedHoldsNobodyUp() {
    CountDownLatch goOn = new CountDownLatch(1);
    STREAMING.on(
        path("lengthy"),
        (request, out) -> {
          for (CallbackRequest.Job job : request.jobs()) {
            int number = Integer.parseInt(job.taskId().replaceAll(".*-", ""));
            if (number == 0) {
              goOn.await();
            }
            out.write(utf8(line(job, number >= 1 && number <= 30 ? "retry" : "done")));
            out.flush();
          }
        });
    submit("lengthy", 0, 1, TYPE);
    eventually().until(() -> !STREAMING.requests(path("lengthy")).isEmpty());
    submit("lengthy", 1, 31, TYPE);
    eventually().until(() -> queue("lengthy").get("circuitOpen").asBoolean());

    submit("lengthy", 31, 36, TYPE);

    finished("lengthy", IntStream.range(31, 36).toArray());
    assertThat(state("lengthy", 0)).isEqualTo("reserved");
    assertThat(queue("lengthy").get("circuitOpen").asBoolean()).isFalse();
    goOn.countDown();
    finished("lengthy", 0);
  }

  @Test
  void aQueueInWhichEverythingFailsHoldsNoOtherQueueOfItsApplicationUp() {
    STREAMING.on(
        path("two"),
        (request, out) -> {
          for (CallbackRequest.Job job : request.jobs()) {
            out.write(utf8(line(job, job.taskType().equals(TYPE) ? "retry" : "done")));
            out.flush();
          }
        });
    String failing =
        IntStream.range(0, 60)
            .mapToObj(i -> job("two", i, "").replace("1h,1h", "10ms;attempts=1000"))
            .collect(Collectors.joining(","));
    assertThat(submitTogether("two", failing).status()).isEqualTo(200);
    eventually().until(() -> queue("two").get("circuitOpen").asBoolean());

    for (int i = 0; i < 30; i++) {
      submit("two", i, i + 1, OTHER_TYPE);
      String job = "/api/v1/jobs/two/" + OTHER_TYPE + "/" + id(i);
      eventually().until(() -> api.get(job).at("/state").equals("finished"));
      assertThat(api.get("/api/v1/queues/two/" + OTHER_TYPE).body().get("circuitOpen").asBoolean())
          .isFalse();
    }
    assertThat(queue("two").get("circuitOpen").asBoolean()).isTrue();
    // Whenever no probe is on its way.
    eventually().until(() -> queue("two").get("parked").asBoolean());
    assertThat(openQueues("true")).contains("two/" + TYPE).doesNotContain("two/" + OTHER_TYPE);
    assertThat(openQueues("false")).contains("two/" + OTHER_TYPE).doesNotContain("two/" + TYPE);
    assertThat(api.get("/api/v1/queues?circuitOpen=yes").at("/errors/0/field"))
        .isEqualTo("circuitOpen");
  }

  private List<String> openQueues(String circuitOpen) {
    return api.get("/api/v1/queues?limit=500&circuitOpen=" + circuitOpen)
        .body()
        .get("items")
        .valueStream()
        .map(queue -> queue.get("application").asString() + "/" + queue.get("taskType").asString())
        .toList();
  }

  private void submit(String app, int from, int to, String type) {
    String jobs =
        IntStream.range(from, to)
            .mapToObj(i -> job(app, i, "").replace(TYPE, type))
            .collect(Collectors.joining(","));
    assertThat(api.post("/api/v1/jobs/batch", "{\"jobs\":[" + jobs + "]}").status()).isEqualTo(200);
  }

  private JsonNode queue(String app) {
    return api.get("/api/v1/queues/" + app + "/" + TYPE).body();
  }

  private int failures(String app) {
    return queue(app).at("/counters/failed").asInt();
  }

  /** The jobs of all requests to an application, each as often as it was sent. */
  private static int sent(String app) {
    return batches(app).stream().mapToInt(request -> request.jobs().size()).sum();
  }

  @Tag("full")
  @Test
  void aRefusalThatComesAfterAJobsTimeConcernsOnlyTheOthers() {
    on("late", body -> status(503).withFixedDelay(1_500));

    submitTogether("late", job("late", 0, ",\"timeToRun\":1000") + "," + job("late", 1, ""));

    eventually()
        .untilAsserted(
            () -> assertThat(get("late", 1).at("/attempts/undeliverable").asInt()).isPositive());
    assertThat(get("late", 0).at("/attempts/unknown").asInt()).isEqualTo(1);
    assertThat(get("late", 0).at("/attempts/undeliverable").asInt()).isZero();
    assertThat(get("late", 1).at("/attempts/unknown").asInt()).isZero();
  }

  @Test
  void aSingleJobIsACloudEvent() {
    on("cloud", body -> status(204));

    submit("cloud", 1);

    finished("cloud", 0);
    LoggedRequest event = requests("cloud").get(0);
    assertThat(event.getBodyAsString()).isEqualTo("{\"n\":1}");
    assertThat(event.getHeader("Content-Type")).isEqualTo("application/json");
    assertThat(event.getHeader("ce-specversion")).isEqualTo("1.0");
    assertThat(event.getHeader("ce-id")).isEqualTo(id(0));
    assertThat(event.getHeader("ce-type")).isEqualTo(TYPE);
    assertThat(event.getHeader("ce-source")).isEqualTo("/cloud/" + TYPE);
    assertThat(Instant.parse(event.getHeader("ce-time")))
        .isBetween(Instant.now().minusSeconds(60), Instant.now());
    assertThat(event.getHeader("ce-attempt")).isEqualTo("1");
    assertThat(event.getHeader("Punctual-Application")).isEqualTo("cloud");
    assertThat(event.getHeader("Punctual-Instance")).isEqualTo("cloud-0");
    assertThat(event.getHeader("Punctual-Incarnation")).isNotBlank();
    assertThat(event.getHeader("Punctual-Scheduler")).contains(":");
    assertThat(event.getHeader("Punctual-Header-trace")).isEqualTo("abc");
    assertThat(headersOfThePage())
        .hasSizeGreaterThan(10)
        .allSatisfy(header -> assertThat(event.containsHeader(header)).as(header).isTrue());
  }

  /** Those that docs/callbacks.md names for a single job; this job has no trace. */
  private static Set<String> headersOfThePage() {
    try {
      String page = Files.readString(Path.of("../docs/callbacks.md"));
      int single = page.indexOf("## One job a call: single");
      String section = page.substring(single, page.indexOf("The status is the answer", single));
      return Pattern.compile("(?:ce|Punctual)-[A-Za-z-]+")
          .matcher(page.substring(0, page.indexOf("\n## ")) + section)
          .results()
          .map(MatchResult::group)
          .filter(header -> !header.equals("ce-traceparent"))
          .collect(Collectors.toSet());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aRejectedJobIsADeadLetterUntilItIsRequeued() {
    on("reject", body -> status(422));

    submit("reject", 1);

    eventually().until(() -> state("reject", 0).equals("dead"));
    assertThat(api.delete(location("reject", 0)).status()).isEqualTo(409);
    assertThat(api.patch(location("reject", 0), "{\"delay\":1}").status()).isEqualTo(409);
    assertThat(requests("reject")).hasSize(1);
    on("reject", body -> status(200));
    Answer requeued = api.post(location("reject", 0) + "/requeue", "");
    assertThat(requeued.status()).isEqualTo(200);
    finished("reject", 0);
    assertThat(api.delete(location("reject", 0)).status()).isEqualTo(409);
  }

  @ParameterizedTest
  @ValueSource(strings = {"later429", "later503"})
  void aSingleInstanceSaysWhenToComeAgain(String app) {
    int status = Integer.parseInt(app.substring(5));
    on(app, body -> status(status).withHeader("Retry-After", "7200"));

    submit(app, 1);

    assertThat(tried(app, 0).at("/attempts/failed").asInt()).isEqualTo(1);
    dueIn(app, Duration.ofHours(2));
  }

  @Test
  void aJobWhoseOnlyInstanceIsGoneStaysReadyAndTriesNoMoreThanTheInstanceIsAskedFor() {
    long start = System.nanoTime();
    submit("gone", 1);

    eventually().until(() -> attempts("gone", 0, "undeliverable") >= 6);
    int tries = attempts("gone", 0, "undeliverable");
    long passed = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    // The job's own back-off would have taken more than half a minute by now.
    assertThat(passed).isLessThan(20_000);
    assertThat(tries).isLessThan((int) (passed / 200) + 3);
    assertThat(attempts("gone", 0, "counted")).isZero();
    assertThat(
            api.get("/api/v1/jobs?application=gone&taskType=" + TYPE + "&state=ready")
                .body()
                .get("items")
                .size())
        .isOne();
  }

  @Test
  void jobsOfAnInstanceThatIsNotReachedGoToAnotherOne() {
    on("pair", lines(job -> line(job, "done")));

    submit("pair", 30);

    finished("pair", IntStream.range(0, 30).toArray());
    assertThat(batches("pair").stream().flatMap(request -> request.jobs().stream()))
        .hasSize(30)
        .allSatisfy(job -> assertThat(job.attempt()).isEqualTo(1));
  }

  @Test
  void anInstanceThatHangsCostsAJobOneAttemptAndIsLeftAloneWhileAnotherAnswers() {
    CountDownLatch never = new CountDownLatch(1);
    STREAMING.on(
        path("hung"),
        (request, out) -> {
          if ("hung-0".equals(request.instance())) {
            never.await();
          }
          done(request, out);
        });

    submit("hung", 40, ",\"timeToRun\":1000");
    AtomicInteger more = new AtomicInteger(40);
    // It is asked again from time to time, which is why there is something to be sent.
    eventually()
        .pollInterval(Duration.ofMillis(100))
        .untilAsserted(
            () -> {
              String job = job("hung", more.getAndIncrement(), ",\"timeToRun\":1000");
              assertThat(api.post("/api/v1/jobs", job).status()).isEqualTo(201);
              JsonNode worker = worker("hung", "hung-0");
              assertThat(worker.get("avoidedUntil").isNull()).isFalse();
              assertThat(worker.get("lastCallError").asString()).contains("time-to-run of PT1S");
            });

    eventually().until(() -> queue("hung").at("/counters/done").asInt() == more.get());
    assertThat(queue("hung").get("dead").asInt()).isZero();
    assertThat(queue("hung").get("circuitOpen").asBoolean()).isFalse();
    assertThat(worker("hung", "hung-1").get("avoidedUntil").isNull()).isTrue();
    assertThat(sentTo("hung", "hung-0")).isNotEmpty().doesNotHaveDuplicates();
    never.countDown();
  }

  @Test
  void whereAnAnswerIsLostOnceMoreAnotherInstanceIsTried() {
    STREAMING.on(
        path("lost"),
        (request, out) -> {
          if ("lost-0".equals(request.instance())) {
            throw new IOException("cut");
          }
          done(request, out);
        });

    submit("lost", 10);

    finished("lost", IntStream.range(0, 10).toArray());
    List<String> lost = sentTo("lost", "lost-0");
    assertThat(lost).isNotEmpty();
    assertThat(lost.stream().collect(Collectors.groupingBy(job -> job, Collectors.counting())))
        .allSatisfy((job, times) -> assertThat(times).isEqualTo(2));
  }

  @Test
  void whatOneOfTwoInstancesTakesToItsGraveDoesNotStopTheQueue() {
    CountDownLatch answer = new CountDownLatch(1);
    CountDownLatch death = new CountDownLatch(1);
    STREAMING.on(
        path("grave"),
        (request, out) -> {
          if ("grave-0".equals(request.instance()) && death.getCount() > 0) {
            death.await();
            throw new IOException("cut");
          }
          answer.await();
          done(request, out);
        });
    submit("grave", 80);
    eventually()
        .until(() -> sentTo("grave", "grave-0").size() + sentTo("grave", "grave-1").size() == 80);
    int held = sentTo("grave", "grave-0").size();
    // More than open a circuit, and nothing succeeds after them.
    assertThat(held).isGreaterThan(20);
    answer.countDown();
    eventually().until(() -> queue("grave").at("/counters/done").asInt() == 80 - held);

    death.countDown();

    eventually().until(() -> queue("grave").at("/counters/unknown").asInt() == held);
    assertThat(queue("grave").get("circuitOpen").asBoolean()).isFalse();
    finished("grave", IntStream.range(0, 80).toArray());
  }

  @Test
  void anInstanceThatComesBackIsNotHeldUpByOneLongJob() throws IOException {
    submit("restarted", 0, 1, TYPE);
    eventually().until(() -> attempts("restarted", 0, "undeliverable") > 0);
    CountDownLatch goOn = new CountDownLatch(1);
    try (StreamingWorker worker = new StreamingWorker(restarted)) {
      worker.on(
          path("restarted"),
          (request, out) -> {
            if (request.jobs().get(0).taskId().equals(id(0))) {
              goOn.await();
            }
            done(request, out);
          });
      eventually().until(() -> !worker.requests(path("restarted")).isEmpty());

      submit("restarted", 1, 31, TYPE);

      finished("restarted", IntStream.range(1, 31).toArray());
      assertThat(state("restarted", 0)).isEqualTo("reserved");
      goOn.countDown();
      finished("restarted", 0);
    }
  }

  private static void done(CallbackRequest request, OutputStream out) throws IOException {
    for (CallbackRequest.Job job : request.jobs()) {
      out.write(utf8(line(job, "done")));
    }
  }

  /** The ids of the jobs that an instance was sent, each as often as it was. */
  private static List<String> sentTo(String app, String instance) {
    return STREAMING.requests(path(app)).stream()
        .filter(request -> instance.equals(request.instance()))
        .flatMap(request -> request.jobs().stream())
        .map(CallbackRequest.Job::taskId)
        .toList();
  }

  private JsonNode worker(String app, String instance) {
    return api.get("/api/v1/workers?application=" + app)
        .body()
        .get("items")
        .valueStream()
        .filter(item -> item.get("instance").asString().equals(instance))
        .findFirst()
        .orElseThrow();
  }

  private void submit(String app, int count) {
    submit(app, count, "");
  }

  private void submit(String app, int count, String more) {
    String jobs =
        IntStream.range(0, count).mapToObj(i -> job(app, i, more)).collect(Collectors.joining(","));
    Answer answer = submitTogether(app, jobs);
    assertThat(answer.body().at("/results").valueStream().map(r -> r.at("/status").asInt()))
        .hasSize(count)
        .containsOnly(201);
  }

  /** Submits jobs while their queue is paused, so that they are claimed together. */
  private Answer submitTogether(String app, String jobs) {
    pause(app);
    Answer answer = api.post("/api/v1/jobs/batch", "{\"jobs\":[" + jobs + "]}");
    assertThat(api.post("/api/v1/queues/" + app + "/" + TYPE + "/resume", "").status())
        .isEqualTo(200);
    return answer;
  }

  private void pause(String app) {
    // A queue that never had a job cannot be paused.
    String first = job(app, 1_000, "").replace("\"delay\":0", "\"delay\":\"1h\"");
    assertThat(api.post("/api/v1/jobs", first).status()).isEqualTo(201);
    assertThat(api.post("/api/v1/queues/" + app + "/" + TYPE + "/pause", "").status())
        .isEqualTo(200);
  }

  private String job(String app, int i, String more) {
    return """
    {"application":"%s","taskType":"%s","taskId":"%s","delay":0,"retry":"1h,1h",
     "params":"{\\"n\\":1}","headers":{"trace":"abc"}%s}
    """
        .formatted(app, TYPE, id(i), more);
  }

  private String id(int i) {
    return run + "-" + i;
  }

  private String location(String app, int i) {
    return "/api/v1/jobs/" + app + "/" + TYPE + "/" + id(i);
  }

  private JsonNode get(String app, int i) {
    return api.get(location(app, i)).body();
  }

  private int attempts(String app, int i, String kind) {
    return get(app, i).at("/attempts/" + kind).asInt(0);
  }

  private String state(String app, int i) {
    return get(app, i).at("/state").asString("");
  }

  private void finished(String app, int... jobs) {
    for (int i : jobs) {
      eventually().untilAsserted(() -> assertThat(state(app, i)).isEqualTo("finished"));
    }
  }

  /** The job after its first attempt. */
  private JsonNode tried(String app, int i) {
    eventually().until(() -> !get(app, i).at("/lastError").isMissingNode());
    return get(app, i);
  }

  private void dueIn(String app, Duration delay) {
    Instant next = Instant.parse(get(app, 0).at("/dueAt").asString());
    Instant wanted = Instant.now().plus(delay);
    assertThat(next).isBetween(wanted.minusSeconds(60), wanted.plusSeconds(60));
  }

  private static void on(String app, Function<String, ResponseDefinitionBuilder> behaviour) {
    BEHAVIOUR.put(path(app), behaviour);
  }

  private static String path(String app) {
    return "/callback/" + app;
  }

  private static ResponseDefinitionBuilder status(int status) {
    return new ResponseDefinitionBuilder().withStatus(status);
  }

  private static ResponseDefinitionBuilder ok(String body) {
    return status(200).withHeader("Content-Type", "application/x-ndjson").withBody(body);
  }

  private static Function<String, ResponseDefinitionBuilder> lines(
      Function<CallbackRequest.Job, String> line) {
    return body -> ok(read(body).jobs().stream().map(line).collect(Collectors.joining()));
  }

  private static String line(CallbackRequest.Job job, String outcome) {
    return JSON.writeValueAsString(
            new CallbackResult(job.taskId(), job.incarnation(), outcome, null, null, null))
        + "\n";
  }

  private static CallbackRequest read(String body) {
    return JSON.readValue(body, CallbackRequest.class);
  }

  private static List<LoggedRequest> requests(String app) {
    return WORKER.findAll(postRequestedFor(urlPathEqualTo(path(app))));
  }

  private static List<CallbackRequest> batches(String app) {
    return requests(app).stream()
        .map(request -> read(request.getBodyAsString()))
        // Not the doctor's.
        .filter(request -> !request.jobs().isEmpty())
        .toList();
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static ConditionFactory eventually() {
    return Awaitility.await().pollInterval(Duration.ofMillis(20)).atMost(Duration.ofSeconds(30));
  }
}
