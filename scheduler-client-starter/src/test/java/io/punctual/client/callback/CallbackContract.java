package io.punctual.client.callback;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.tomakehurst.wiremock.WireMockServer;
import com.github.tomakehurst.wiremock.client.WireMock;
import com.github.tomakehurst.wiremock.core.WireMockConfiguration;
import io.punctual.DelayedTask;
import io.punctual.LeaseLostException;
import io.punctual.RejectTaskException;
import io.punctual.RetryLaterException;
import io.punctual.TaskContext;
import io.punctual.TaskWorker;
import io.punctual.client.registration.InstanceRegistration;
import io.punctual.client.run.JobRunner;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** What a callback is answered, whatever the application's web server. */
abstract class CallbackContract {

  /** Properties of the application. */
  static final String NAME = "spring.application.name=shop";

  static final String NO_EUREKA = "eureka.client.enabled=false";
  static final String UNSIGNED = "punctual.callback.accept-unsigned=true";

  private static final AtomicInteger IDS = new AtomicInteger();

  private static final WireMockServer SCHEDULER =
      new WireMockServer(WireMockConfiguration.options().dynamicPort());

  @DynamicPropertySource
  static void scheduler(DynamicPropertyRegistry registry) {
    SCHEDULER.start();
    registry.add("punctual.url", SCHEDULER::baseUrl);
  }

  @AfterAll
  static void stopScheduler() {
    SCHEDULER.stop();
  }

  @Autowired Shop shop;
  @LocalServerPort int port;
  private final HttpClient client = HttpClient.newHttpClient();

  @Test
  void aJobIsRunAndItsResultIsALine() throws Exception {
    String job = job("record", "hello \\u00e4 \\\"", 1);

    HttpResponse<String> answer = post(request("shop", job));

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("content-type")).contains("application/x-ndjson");
    assertThat(answer.body()).contains("\"outcome\":\"done\"").endsWith("\n");
    assertThat(shop.seen).contains("hello ä \"");
  }

  @Test
  void everyOutcomeHasItsWord() throws Exception {
    String answer =
        post(request(
                "shop",
                job("reject", "", 1),
                job("later", "", 1),
                job("fail", "", 1),
                job("unknown", "", 1)))
            .body();

    assertThat(answer)
        .contains("\"outcome\":\"reject\"", "not this one")
        .contains("\"outcome\":\"retry\"", "\"retryAfterMs\":120000", "come back")
        .contains("IllegalStateException: broken")
        .contains("\"outcome\":\"refused\"", "no worker for unknown");
  }

  @Test
  void anErrorThatIsNoUnicodeDisturbsNoOtherJob() throws Exception {
    String answer = post(request("shop", job("half", "", 1), job("record", "x", 1))).body();

    assertThat(answer.lines()).hasSize(2);
    assertThat(answer).contains("half ?", "\"outcome\":\"done\"");
  }

  @Test
  void jobsOfAnotherApplicationAreRefused() throws Exception {
    int before = shop.seen.size();

    assertThat(post(request("bank", job("record", "x", 1))).statusCode()).isEqualTo(421);
    assertThat(shop.seen).hasSize(before);
  }

  @ParameterizedTest
  @CsvSource({
    "http://shop-1.example:8081/ctx/punctual/callback, 200",
    "http://Shop-1.Example:8081/ctx/punctual/callback, 200",
    "http://shop-2.example:8081/ctx/punctual/callback, 421",
    "http://shop-1.example:8082/ctx/punctual/callback, 421",
    "shop-1, 400"
  })
  void aCallThatWentToAnotherAddressIsRefused(String address, int status) throws Exception {
    int before = shop.seen.size();
    String passedOn =
        request("shop", job("record", "x", 1))
            .replace("\"jobs\":", "\"address\":\"" + address + "\",\"jobs\":");

    assertThat(post(passedOn).statusCode()).isEqualTo(status);
    assertThat(shop.seen).hasSize(status == 200 ? before + 1 : before);
  }

  @Test
  void aCallForAnotherInstanceIsRefused() throws Exception {
    int before = shop.seen.size();
    String others =
        request("shop", job("record", "x", 1))
            .replace("\"instance\":\"i\"", "\"instance\":\"impostor\"");

    HttpResponse<String> answer = post(others);

    assertThat(answer.statusCode()).isEqualTo(421);
    assertThat(answer.headers().firstValue("Punctual-Refusal")).hasValue("other-instance");
    assertThat(answer.body()).contains("instance i", "impostor");
    assertThat(shop.seen).hasSize(before);
  }

  @Test
  @DirtiesContext
  void anInstanceThatLeavesSendsJobsAwayAtOnceAndWaitsUntilNobodyComes(@Autowired JobRunner runner)
      throws Exception {
    assertThat(post(request("shop", job("record", "before", 1))).statusCode()).isEqualTo(200);
    assertThat(runner.drain(Duration.ofSeconds(20))).isTrue();

    HttpResponse<String> answer = post(request("shop", job("record", "after", 1)));
    long asked = System.nanoTime();
    // 503 tells a scheduler that nothing was run: it goes to the next instance, at no attempt.
    assertThat(answer.statusCode()).isEqualTo(503);
    assertThat(answer.headers().firstValue("connection")).hasValue("close");
    assertThat(shop.seen).doesNotContain("after");
    runner.awaitQuiet(Duration.ofSeconds(20));
    // The request came a little before its answer was here.
    assertThat(Duration.ofNanos(System.nanoTime() - asked)).isGreaterThan(Duration.ofMillis(500));
  }

  @Test
  void aSlowJobDelaysNoOtherResult() throws Exception {
    shop.gate = new CountDownLatch(1);
    HttpResponse<java.io.InputStream> answer =
        client.send(
            post(
                request("shop", job("slow", "", 1), job("record", "quick", 1)), "application/json"),
            HttpResponse.BodyHandlers.ofInputStream());
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8))) {
      // Comes while the slow one still waits; otherwise this would wait for ever.
      assertThat(lines.readLine()).contains("\"outcome\":\"done\"");
      shop.gate.countDown();
      assertThat(lines.readLine()).contains("\"outcome\":\"done\"");
      assertThat(lines.readLine()).isNull();
    }
  }

  @Test
  void aRepeatedDeliveryIsAnsweredWithoutRunningAgain() throws Exception {
    String id = "repeated-" + IDS.incrementAndGet();
    String first = job(id, "record", id, 1);
    String second = job(id, "record", id, 2);

    assertThat(post(request("shop", first)).body()).contains("\"outcome\":\"done\"");
    assertThat(post(request("shop", second)).body()).contains("\"outcome\":\"done\"");

    assertThat(shop.seen.stream().filter(id::equals)).hasSize(1);
    assertThat(post(request("shop", first)).body()).contains("\"outcome\":\"refused\"");
  }

  @Test
  void aFailedJobRunsAgainWithItsNextAttempt() throws Exception {
    String id = "failing-" + IDS.incrementAndGet();

    post(request("shop", job(id, "fail", id, 1)));
    post(request("shop", job(id, "fail", id, 2)));

    assertThat(shop.seen.stream().filter(id::equals)).hasSize(2);
  }

  @Test
  void aJobBeyondItsTimeToRunIsInterrupted() throws Exception {
    shop.gate = new CountDownLatch(1);
    String job =
        """
        {"taskId":"ttr","taskType":"slow","incarnation":"ttr","attempt":1,"version":2,\
        "claimedAt":1,"dueTime":1,\
        "timeToRun":100,"params":"","headers":{}}""";

    assertThat(post(request("shop", job)).body())
        .contains("\"outcome\":\"retry\"", "time-to-run of 100 ms");
  }

  @Test
  void anAnnotatedMethodGetsItsPayloadAndItsAttempt() throws Exception {
    String id = "typed-" + IDS.incrementAndGet();

    String answer = post(request("shop", job(id, "order.close", "{\\\"number\\\":7}", 3))).body();

    assertThat(answer).contains("\"outcome\":\"done\"");
    assertThat(shop.seen).contains(id + " attempt 3 closes 7");
  }

  @Test
  void paramsThatAreNoPayloadAreRejectedWithTheReason() throws Exception {
    String answer =
        post(request("shop", job("order.close", "{\\\"number\\\":\\\"x\\\"}", 1))).body();

    assertThat(answer)
        .contains("\"outcome\":\"reject\"", "the params are no JSON of", "CloseOrder", "number");
  }

  @Test
  void anAttemptIsToldThatItsTimeIsOver() throws Exception {
    String job =
        """
        {"taskId":"told","taskType":"stubborn","incarnation":"told","attempt":1,"version":2,\
        "claimedAt":1,"dueTime":1,\
        "timeToRun":100,"params":"","headers":{}}""";

    assertThat(post(request("shop", job)).body()).contains("\"outcome\":\"done\"");
    assertThat(shop.seen).contains("told was cancelled: true");
  }

  @Test
  void aFutureIsAnsweredWhenItIsComplete() throws Exception {
    HttpResponse<java.io.InputStream> answer =
        client.send(
            post(
                request(
                    "shop",
                    job("f-done", "future", "", 1),
                    job("f-no", "future", "", 1),
                    job("f-later", "future", "", 1),
                    job("record", "quick", 1)),
                "application/json"),
            HttpResponse.BodyHandlers.ofInputStream());
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8))) {
      assertThat(lines.readLine()).contains("\"outcome\":\"done\"").doesNotContain("f-");
      shop.future("f-done").complete("");
      assertThat(lines.readLine()).contains("\"f-done\"", "\"outcome\":\"done\"");
      shop.future("f-no").completeExceptionally(new RejectTaskException("not this one"));
      assertThat(lines.readLine()).contains("\"f-no\"", "\"outcome\":\"reject\"", "not this one");
      shop.future("f-later")
          .completeExceptionally(new RetryLaterException(Duration.ofSeconds(3), "come back"));
      assertThat(lines.readLine())
          .contains("\"f-later\"", "\"outcome\":\"retry\"", "\"retryAfterMs\":3000");
      assertThat(lines.readLine()).isNull();
    }
  }

  @Test
  void aFutureBeyondItsTimeToRunIsCancelled() throws Exception {
    String job =
        """
        {"taskId":"f-ttr","taskType":"future","incarnation":"f-ttr","attempt":1,"version":2,\
        "claimedAt":1,"dueTime":1,\
        "timeToRun":100,"params":"","headers":{}}""";

    assertThat(post(request("shop", job)).body())
        .contains("\"outcome\":\"retry\"", "cancelled: its time-to-run of 100 ms");
    assertThat(shop.future("f-ttr")).isCancelled();
  }

  @Test
  void whoAsksForMoreTimeHasTheSchedulerHearAndAsksWhetherTheJobIsStillItsOwn() throws Exception {
    SCHEDULER.stubFor(
        WireMock.post("/api/v1/claims/t-mine/extend")
            .willReturn(WireMock.okJson("{\"outcome\":\"extended\"}")));
    HttpResponse<java.io.InputStream> answer =
        client.send(
            post(request("shop", withToken("more", "t-mine", 5_000)), "application/json"),
            HttpResponse.BodyHandlers.ofInputStream());
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8))) {
      assertThat(lines.readLine())
          .contains("\"t-mine\"", "\"outcome\":\"extended\"", "\"timeToRunMs\":60000");
      Awaitility.await()
          .untilAsserted(
              () ->
                  SCHEDULER.verify(
                      WireMock.postRequestedFor(WireMock.urlEqualTo("/api/v1/claims/t-mine/extend"))
                          .withRequestBody(WireMock.equalToJson("{\"timeToRun\":1000}"))));
      // A job that began later and asked for nothing is over before it.
      assertThat(post(request("shop", withToken("future", "t-other", 5_000))).body())
          .contains("time-to-run of 5000 ms was over");
      shop.future("t-mine").complete("");
      assertThat(lines.readLine()).contains("\"t-mine\"", "\"outcome\":\"done\"");
      assertThat(lines.readLine()).isNull();
    }
  }

  @Test
  void whoAsksForMoreTimeAndHasLostTheJobIsToldSo() throws Exception {
    SCHEDULER.stubFor(
        WireMock.post("/api/v1/claims/t-lost/extend")
            .willReturn(
                WireMock.jsonResponse(
                    "{\"code\":\"lease-lost\",\"detail\":\"attempt 2 has it\"}", 409)));

    assertThat(post(request("shop", withToken("more", "t-lost", 60_000))).body())
        .contains("\"outcome\":\"retry\"", "LeaseLostException: attempt 2 has it");
    assertThat(shop.seen).contains("t-lost was cancelled: true");
  }

  @Test
  void whoLeavesTheJobToSomebodyElseHasTheStoreHearAtOnceAndTheSchedulerWhenItReturns()
      throws Exception {
    SCHEDULER.stubFor(
        WireMock.post("/api/v1/claims/t-defer/extend")
            .willReturn(WireMock.okJson("{\"outcome\":\"extended\"}")));

    assertThat(post(request("shop", withToken("defer", "t-defer", 60_000))).body())
        .contains("\"outcome\":\"deferred\"", "\"timeToRunMs\":");

    SCHEDULER.verify(
        WireMock.postRequestedFor(WireMock.urlEqualTo("/api/v1/claims/t-defer/extend"))
            .withRequestBody(WireMock.equalToJson("{\"timeToRun\":259200000}")));
    assertThat(shop.seen).contains("handle t-defer");
  }

  private static String withToken(String type, String token, long timeToRun) {
    return """
        {"taskId":"%s","taskType":"%s","incarnation":"%s","attempt":1,"version":2,\
        "claimedAt":1,"dueTime":1,\
        "timeToRun":%d,"params":"","headers":{},"token":"%s"}"""
        .formatted(token, type, token, timeToRun, token);
  }

  @Test
  void aPingIsAnsweredAndRunsNothing() throws Exception {
    int before = shop.seen.size();

    HttpResponse<String> answer = post("{\"application\":\"shop\",\"jobs\":[]}");

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("content-type")).contains("application/x-ndjson");
    assertThat(answer.body().lines()).hasSize(1);
    assertThat(answer.body()).startsWith("{\"application\":\"shop\",\"time\":").endsWith("\n");
    assertThat(answer.body()).containsPattern("\"taskTypes\":\\[\"[^\\]]+\\],\"concurrency\":\\d+");
    assertThat(shop.seen).hasSize(before);
    HttpResponse<String> others = post("{\"application\":\"bank\",\"jobs\":[]}");
    assertThat(others.statusCode()).isEqualTo(421);
    assertThat(others.headers().firstValue("Punctual-Refusal")).hasValue("other-application");
  }

  @Test
  void nonsenseIsRefusedClearly() throws Exception {
    for (String body :
        List.of(
            "",
            "{",
            "[]",
            "null",
            "{}",
            "{\"application\":\"shop\",\"instance\":\"i\",\"jobs\":[{\"taskId\":\"a\"}]}",
            "{\"application\":\"shop\",\"instance\":\"i\",\"jobs\":[null]}")) {
      HttpResponse<String> answer = post(body);
      assertThat(answer.statusCode()).as(body).isEqualTo(400);
      assertThat(answer.body()).doesNotContain("Exception", "io.punctual");
    }
    assertThat(post("x".repeat(9 << 20)).statusCode()).isEqualTo(413);
    HttpResponse<String> get =
        client.send(HttpRequest.newBuilder(uri()).build(), HttpResponse.BodyHandlers.ofString());
    assertThat(get.statusCode()).isEqualTo(405);
    assertThat(get.headers().firstValue("allow")).contains("POST");
  }

  @ParameterizedTest
  @CsvSource({
    "application/json, Origin, http://evil.example",
    "application/json, Sec-Fetch-Site, cross-site",
    "text/plain, Accept, */*"
  })
  void aWebPageRunsNoJobs(String type, String header, String value) throws Exception {
    int before = shop.seen.size();
    String job = request("shop", job("record", "of a page", 1));
    HttpRequest page =
        HttpRequest.newBuilder(post(job, type), (name, text) -> true).header(header, value).build();

    assertThat(client.send(page, HttpResponse.BodyHandlers.ofString()).statusCode()).isEqualTo(401);
    assertThat(shop.seen).hasSize(before);
  }

  @Test
  void theRestOfTheApplicationStaysProtected() throws Exception {
    HttpResponse<String> other =
        client.send(
            HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/ctx/secret"))
                .header("X-Version", "1")
                .build(),
            HttpResponse.BodyHandlers.ofString());

    assertThat(other.statusCode()).isEqualTo(401);
  }

  private URI uri() {
    return URI.create("http://localhost:" + port + "/ctx/punctual/callback");
  }

  private HttpResponse<String> post(String body) throws Exception {
    return client.send(post(body, "application/json"), HttpResponse.BodyHandlers.ofString());
  }

  private HttpRequest post(String body, String type) {
    return HttpRequest.newBuilder(uri())
        .header("Content-Type", type)
        .timeout(Duration.ofSeconds(30))
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
  }

  static String request(String application, String... jobs) {
    return "{\"application\":\"%s\",\"instance\":\"i\",\"jobs\":[%s]}"
        .formatted(application, String.join(",", jobs));
  }

  static String job(String type, String params, int attempt) {
    return job("job-" + IDS.incrementAndGet(), type, params, attempt);
  }

  private static String job(String id, String type, String params, int attempt) {
    return """
        {"taskId":"%s","taskType":"%s","incarnation":"%s","attempt":%d,"version":%d,\
        "claimedAt":%d,"dueTime":1,"timeToRun":60000,"params":"%s","headers":{}}"""
        .formatted(id, type, id, attempt, 1 + attempt, attempt, params);
  }

  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class Shop {

    @Bean
    InstanceRegistration registration() {
      return new InstanceRegistration() {
        @Override
        public void deregister() {}

        @Override
        public AdvertisedCallback advertised() {
          return new AdvertisedCallback(
              "i", URI.create("http://shop-1.example:8081/ctx/punctual/callback"));
        }

        @Override
        public String remedy() {
          return "";
        }
      };
    }

    final Queue<String> seen = new ConcurrentLinkedQueue<>();
    volatile CountDownLatch gate = new CountDownLatch(0);

    @Bean
    TaskWorker record() {
      return worker("record", seen::add);
    }

    @Bean
    TaskWorker slow() {
      return worker("slow", params -> gate.await());
    }

    @Bean
    TaskWorker reject() {
      return worker(
          "reject",
          params -> {
            throw new RejectTaskException("not this one");
          });
    }

    @Bean
    TaskWorker later() {
      return worker(
          "later",
          params -> {
            throw new RetryLaterException(Duration.ofMinutes(2), "come back");
          });
    }

    @Bean
    TaskWorker fail() {
      return worker(
          "fail",
          params -> {
            seen.add(params);
            throw new IllegalStateException("broken");
          });
    }

    @Bean
    TaskWorker half() {
      return worker(
          "half",
          params -> {
            throw new IllegalStateException("half \ud83d");
          });
    }

    record CloseOrder(int number) {}

    @DelayedTask("order.close")
    void close(CloseOrder order, TaskContext context) {
      seen.add(context.taskId() + " attempt " + context.attempt() + " closes " + order.number());
    }

    /** Heeds no interrupt, but what it is told. */
    @DelayedTask("stubborn")
    void stubborn(TaskContext context) {
      CountDownLatch told = new CountDownLatch(1);
      context.onCancel(told::countDown);
      while (told.getCount() > 0) {
        Thread.onSpinWait();
      }
      seen.add(context.taskId() + " was cancelled: " + context.isCancelled());
    }

    private final Map<String, CompletableFuture<String>> futures = new ConcurrentHashMap<>();

    CompletableFuture<String> future(String taskId) {
      return futures.computeIfAbsent(taskId, id -> new CompletableFuture<>());
    }

    /** Ends when the test says so. */
    @DelayedTask("future")
    CompletableFuture<String> future(TaskContext context) {
      return future(context.taskId());
    }

    @DelayedTask("more")
    CompletableFuture<String> more(TaskContext context) {
      try {
        context.extend(Duration.ofMinutes(1));
      } catch (LeaseLostException e) {
        seen.add(context.taskId() + " was cancelled: " + context.isCancelled());
        throw e;
      }
      return future(context.taskId());
    }

    @DelayedTask("defer")
    void defer(TaskContext context) {
      seen.add("handle " + context.defer(Duration.ofDays(3)));
    }

    interface Work {
      void on(String params) throws Exception;
    }

    private static TaskWorker worker(String type, Work work) {
      return new TaskWorker() {
        @Override
        public String type() {
          return type;
        }

        @Override
        public void invoke(String params) throws Exception {
          work.on(params);
        }
      };
    }

    @RestController
    static class Secret {
      @GetMapping("/secret")
      String secret() {
        return "secret";
      }
    }
  }
}
