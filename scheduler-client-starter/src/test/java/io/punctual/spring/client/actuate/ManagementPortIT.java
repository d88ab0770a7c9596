package io.punctual.spring.client.actuate;

import static com.github.tomakehurst.wiremock.client.WireMock.aResponse;
import static com.github.tomakehurst.wiremock.client.WireMock.okJson;
import static com.github.tomakehurst.wiremock.client.WireMock.post;
import static com.github.tomakehurst.wiremock.client.WireMock.serviceUnavailable;
import static com.github.tomakehurst.wiremock.client.WireMock.urlEqualTo;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.github.tomakehurst.wiremock.WireMockServer;
import com.github.tomakehurst.wiremock.core.WireMockConfiguration;
import io.punctual.DelayedTask;
import io.punctual.SchedulerUnavailableException;
import io.punctual.TaskSubmitService;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalManagementPort;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * An application with a management port, a context path, Spring Security as it comes, and the
 * Eureka client: where it is called, and what its endpoint and health say.
 */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {
      "spring.application.name=shop",
      "server.servlet.context-path=/ctx",
      "management.server.port=0",
      "management.endpoints.web.exposure.include=punctual,health",
      "management.endpoint.health.show-details=always",
      "spring.security.user.name=admin",
      "spring.security.user.password=of-the-admin",
      "eureka.client.register-with-eureka=false",
      "eureka.client.fetch-registry=false",
      "eureka.instance.hostname=shop.example",
      "eureka.instance.instance-id=i",
      "punctual.token=pct_of-the-shop",
      "punctual.submit-timeout=4s",
      "punctual.callback.accept-unsigned=true",
      "punctual.workers.[order.close].concurrency=3",
      "punctual.workers.[order.close].time-to-run=45s",
      "punctual.workers.[order.close].retry=1s,2s;attempts=7"
    })
class ManagementPortIT {

  private static final WireMockServer SCHEDULER = scheduler();

  @Autowired Shop shop;
  @Autowired TaskSubmitService tasks;
  @LocalServerPort int port;
  @LocalManagementPort int managementPort;
  private final HttpClient client = HttpClient.newHttpClient();

  private static WireMockServer scheduler() {
    WireMockServer server = new WireMockServer(WireMockConfiguration.options().dynamicPort());
    server.start();
    server.stubFor(
        post(urlEqualTo("/api/v1/workers:probe"))
            .willReturn(
                okJson(
                    """
                    {"probe":{"status":"problem","code":"connection-refused","message":"No program listens",
                    "remedy":"Set eureka.instance.hostname","url":"http://shop.example:1/cb"}}""")));
    return server;
  }

  @DynamicPropertySource
  static void schedulers(DynamicPropertyRegistry registry) {
    registry.add("punctual.url", SCHEDULER::baseUrl);
  }

  @BeforeEach
  void schedulerTakesJobs() {
    SCHEDULER.stubFor(
        post(urlEqualTo("/api/v1/jobs"))
            .willReturn(
                aResponse()
                    .withStatus(201)
                    .withHeader("Content-Type", "application/json")
                    .withBody("{\"taskId\":\"1\",\"delayTime\":1,\"outcome\":\"created\"}")));
  }

  @AfterAll
  static void stop() {
    SCHEDULER.stop();
  }

  @Test
  void jobsComeOnTheApplicationsPortAndOnNoOther() throws Exception {
    assertThat(call(port, "/ctx/punctual/callback", "first").statusCode()).isEqualTo(200);
    for (String path : new String[] {"/ctx/punctual/callback", "/punctual/callback"}) {
      assertThat(call(managementPort, path, "second").statusCode()).isBetween(400, 499);
    }

    assertThat(shop.closed).contains("first").doesNotContain("second");
  }

  @Test
  void theEndpointSaysWhatRunsHereAndNothingSecret() throws Exception {
    shop.gate = new CountDownLatch(1);
    tasks.send("order.close", "private", Duration.ZERO);
    CompletableFuture<HttpResponse<String>> running =
        client.sendAsync(
            callback(port, "/ctx/punctual/callback", "waits"),
            HttpResponse.BodyHandlers.ofString());
    Awaitility.await().until(() -> endpoint().at("/running").asInt() == 1);
    JsonNode type = endpoint().at("/taskTypes/order.close");
    shop.gate.countDown();
    assertThat(running.get().statusCode()).isEqualTo(200);

    assertThat(type.at("/concurrency").asInt()).isEqualTo(3);
    assertThat(type.at("/running").asInt()).isEqualTo(1);
    assertThat(type.at("/timeToRun").asString()).isEqualTo("PT45S");
    assertThat(type.at("/retry").asString()).isEqualTo("1s,2s;attempts=7");
    Awaitility.await().until(() -> endpoint().at("/running").asInt() == 0);
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> endpoint().at("/reach/code").asString("").equals("connection-refused"));
    JsonNode all = endpoint();
    assertThat(all.at("/application").asString()).isEqualTo("shop");
    assertThat(all.at("/delivery").asString()).isEqualTo("push");
    assertThat(all.at("/callback").asString())
        .isEqualTo("http://shop.example:" + port + "/ctx/punctual/callback");
    assertThat(all.at("/reach/remedy").asString()).isEqualTo("Set eureka.instance.hostname");
    assertThat(all.at("/schedulers/0/url").asString()).isEqualTo(SCHEDULER.baseUrl());
    assertThat(all.at("/schedulers/0/answered").asString()).startsWith("20").endsWith("Z");
    assertThat(all.at("/lastAnswer").asString()).startsWith("20").endsWith("Z");
    assertThat(all.toString()).doesNotContain("pct_of-the-shop", "private", "waits");
  }

  @Test
  void healthWarnsOfSchedulersThatAreAwayAndLetsTheInstanceBe() {
    SCHEDULER.stubFor(post(urlEqualTo("/api/v1/jobs")).willReturn(serviceUnavailable()));
    // Other calls, which it answers, may come between.
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () -> {
              assertThatExceptionOfType(SchedulerUnavailableException.class)
                  .isThrownBy(() -> tasks.send("order.close", "x", Duration.ZERO));

              HttpResponse<String> health = get("/actuator/health", true);

              assertThat(health.statusCode()).isEqualTo(200);
              JsonNode all = new JsonMapper().readTree(health.body());
              assertThat(all.at("/status").asString()).isEqualTo("UP");
              assertThat(all.at("/components/punctual/status").asString()).isEqualTo("WARNING");
              assertThat(all.at("/components/punctual/details/error").asString())
                  .isEqualTo("HTTP 503");
            });
  }

  @Test
  void strangersReadNothing() throws Exception {
    assertThat(get("/actuator/punctual", false).statusCode()).isEqualTo(401);
  }

  private JsonNode endpoint() throws Exception {
    HttpResponse<String> answer = get("/actuator/punctual", true);
    assertThat(answer.statusCode()).isEqualTo(200);
    return new JsonMapper().readTree(answer.body());
  }

  private HttpResponse<String> get(String path, boolean known) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://localhost:" + managementPort + path));
    if (known) {
      request.header(
          "Authorization",
          "Basic "
              + Base64.getEncoder()
                  .encodeToString("admin:of-the-admin".getBytes(StandardCharsets.UTF_8)));
    }
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private HttpResponse<String> call(int port, String path, String id) throws Exception {
    return client.send(callback(port, path, id), HttpResponse.BodyHandlers.ofString());
  }

  private static HttpRequest callback(int port, String path, String id) {
    String body =
        """
        {"application":"shop","instance":"i","jobs":[{"taskId":"%s","taskType":"order.close",\
        "incarnation":"%s","attempt":1,"version":2,"claimedAt":1,"dueTime":1,"timeToRun":60000,"params":"%s","headers":{}}]}"""
            .formatted(id, id, id);
    return HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
        .header("Content-Type", "application/json")
        .timeout(Duration.ofSeconds(30))
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
  }

  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class Shop {

    final Queue<String> closed = new ConcurrentLinkedQueue<>();
    volatile CountDownLatch gate = new CountDownLatch(0);

    @DelayedTask("order.close")
    void close(String id) throws InterruptedException {
      gate.await();
      closed.add(id);
    }
  }
}
