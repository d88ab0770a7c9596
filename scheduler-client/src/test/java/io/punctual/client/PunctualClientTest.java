package io.punctual.client;

import static com.github.tomakehurst.wiremock.client.WireMock.equalTo;
import static com.github.tomakehurst.wiremock.client.WireMock.matchingJsonPath;
import static com.github.tomakehurst.wiremock.client.WireMock.noContent;
import static com.github.tomakehurst.wiremock.client.WireMock.okJson;
import static com.github.tomakehurst.wiremock.client.WireMock.post;
import static com.github.tomakehurst.wiremock.client.WireMock.postRequestedFor;
import static com.github.tomakehurst.wiremock.client.WireMock.urlEqualTo;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.tomakehurst.wiremock.WireMockServer;
import com.github.tomakehurst.wiremock.core.WireMockConfiguration;
import com.github.tomakehurst.wiremock.stubbing.Scenario;
import com.sun.net.httpserver.HttpServer;
import io.punctual.DelayQueueJob;
import io.punctual.SubmitResult;
import io.punctual.TaskWorker;
import io.punctual.client.callback.HttpServerCallback;
import io.punctual.client.json.Jackson2Json;
import io.punctual.client.json.Jackson3Json;
import io.punctual.client.json.Json;
import io.punctual.wire.CallbackSignature;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A program without any framework. */
class PunctualClientTest {

  private static final CallbackSignature.Key KEY =
      CallbackSignature.Key.derived("a master secret of the scheduler", "shop");

  private final WireMockServer scheduler =
      new WireMockServer(WireMockConfiguration.options().dynamicPort());
  private final Queue<String> ran = new ConcurrentLinkedQueue<>();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private HttpServer web;

  @BeforeEach
  void start() throws Exception {
    scheduler.start();
    web = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    web.setExecutor(threads);
    web.start();
  }

  @AfterEach
  void stop() {
    web.stop(0);
    threads.shutdownNow();
    scheduler.stop();
  }

  @Test
  void aClientRegistersOnceWithWorkersAndUntilItIsClosed() {
    URI address = URI.create("http://127.0.0.1:8081/cb");
    try (PunctualClient idle = PunctualClient.of("shop").build()) {
      assertThatThrownBy(() -> idle.register(address)).hasMessageContaining("no workers. Add");
    }
    PunctualClient client = client(new Jackson3Json());
    assertThatThrownBy(() -> client.register(URI.create("/cb")))
        .isInstanceOf(IllegalArgumentException.class);
    client.register(address);
    assertThatThrownBy(() -> client.register(address)).hasMessageContaining("already. Call");
    client.close();
    assertThatThrownBy(() -> client.register(address)).hasMessageContaining("closed. Build");
  }

  static List<Json> both() {
    return List.of(new Jackson3Json(), new Jackson2Json());
  }

  private PunctualClient client(Json json) {
    return PunctualClient.of("Shop")
        .release("2.14.0")
        .schedulers(List.of(URI.create(scheduler.baseUrl() + "/")))
        .json(json)
        .worker(
            new TaskWorker() {
              @Override
              public String type() {
                return "order.close";
              }

              @Override
              public void invoke(String params) {
                if (params.equals("broken")) {
                  throw new IllegalStateException("no such order");
                }
                ran.add(params);
              }
            })
        .build();
  }

  @Test
  void jobsAreSubmitted() {
    scheduler.stubFor(
        post(urlEqualTo("/api/v1/jobs"))
            .willReturn(okJson("{\"taskId\":\"1\",\"outcome\":\"created\",\"delayTime\":7}")));
    try (PunctualClient client = client(Json.ofClassPath())) {
      SubmitResult result =
          client
              .scheduler()
              .submit(
                  DelayQueueJob.of("order.close").taskId("1").delay(Duration.ofHours(1)).build());

      assertThat(result.dueAt()).isEqualTo(Instant.ofEpochMilli(7));
    }
    scheduler.verify(
        postRequestedFor(urlEqualTo("/api/v1/jobs"))
            .withRequestBody(matchingJsonPath("$.application", equalTo("shop"))));
  }

  @ParameterizedTest
  @MethodSource("both")
  void jobsArePulledRunAndEnded(Json json) {
    scheduler.stubFor(
        post(urlEqualTo("/api/v1/claims")).willReturn(noContent().withFixedDelay(200)));
    scheduler.stubFor(
        post(urlEqualTo("/api/v1/claims"))
            .inScenario("one")
            .whenScenarioStateIs(Scenario.STARTED)
            .willSetStateTo("given")
            .willReturn(
                okJson(
                    "{\"jobs\":[{\"taskId\":\"1\",\"taskType\":\"order.close\",\"incarnation\":\"i\","
                        + "\"attempt\":1,\"version\":1,\"claimedAt\":1,\"dueTime\":1,"
                        + "\"jobTimeToRun\":60000,\"params\":\"1001\",\"headers\":{},"
                        + "\"token\":\"shop.token\"}]}")));
    String ack = "/api/v1/claims/shop.token/ack";
    scheduler.stubFor(post(urlEqualTo(ack)).willReturn(okJson("{\"outcome\":\"done\"}")));
    try (PunctualClient client = client(json)) {
      client.pull();
      Awaitility.await()
          .until(() -> !scheduler.findAll(postRequestedFor(urlEqualTo(ack))).isEmpty());
    }
    assertThat(ran).containsExactly("1001");
  }

  @ParameterizedTest
  @MethodSource("both")
  void jobsThatAreBroughtRunBehindTheServerOfTheJdk(Json json) throws Exception {
    try (PunctualClient client = client(json)) {
      web.createContext(
          "/punctual/callback", new HttpServerCallback(client.callback(List.of(KEY))));

      HttpResponse<String> answer = call("msg_1", body("1001", "broken"));

      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/x-ndjson");
      assertThat(answer.body())
          .contains("\"outcome\":\"done\"", "\"outcome\":\"retry\"", "no such order");
      assertThat(ran).containsExactly("1001");
      // The same call once more.
      HttpResponse<String> repeated = call("msg_1", body("1001", "broken"));
      assertThat(repeated.statusCode()).isEqualTo(401);
      assertThat(repeated.body()).isEqualTo("the call was here before");
      assertThat(call("msg_2", "{\"jobs\":1}").statusCode()).isEqualTo(400);
      // Without jobs: is anybody there?
      HttpResponse<String> ping = call("msg_3", "{\"application\":\"shop\",\"jobs\":[]}");
      assertThat(ping.body()).contains("\"application\":\"shop\"", "\"release\":\"2.14.0\"");
      HttpResponse<String> page =
          HttpClient.newHttpClient()
              .send(
                  HttpRequest.newBuilder(address()).build(), HttpResponse.BodyHandlers.ofString());
      assertThat(page.statusCode()).isEqualTo(405);
      assertThat(page.headers().firstValue("Allow")).hasValue("POST");
    }
  }

  private URI address() {
    return URI.create("http://127.0.0.1:" + web.getAddress().getPort() + "/punctual/callback");
  }

  private HttpResponse<String> call(String id, String body) throws Exception {
    String timestamp = Long.toString(Instant.now().getEpochSecond());
    HttpRequest request =
        HttpRequest.newBuilder(address())
            .header("Content-Type", "application/json")
            .header(CallbackSignature.ID, id)
            .header(CallbackSignature.TIMESTAMP, timestamp)
            .header(
                CallbackSignature.SIGNATURE,
                CallbackSignature.sign(List.of(KEY), id, timestamp, body.getBytes(UTF_8)))
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
  }

  private static String body(String... params) {
    StringBuilder jobs = new StringBuilder();
    for (String one : params) {
      jobs.append(jobs.isEmpty() ? "" : ",")
          .append(
              """
              {"taskId":"%s","taskType":"order.close","incarnation":"i","attempt":1,"version":1,\
              "claimedAt":1,"dueTime":1,"timeToRun":60000,"params":"%s","headers":{}}"""
                  .formatted(one, one));
    }
    return "{\"application\":\"shop\",\"jobs\":[" + jobs + "]}";
  }
}
