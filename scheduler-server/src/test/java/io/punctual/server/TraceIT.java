package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.ApiClient.Answer;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The trace of a submit travels with its job, and is no part of what the job is. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = "eureka.client.enabled=false")
class TraceIT extends SharedRedisTestBase {

  private static final String TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  private static final String ANOTHER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
  private static final JsonMapper JSON = new JsonMapper();
  private static final StreamingWorker WORKER = worker();

  private final String id = UUID.randomUUID().toString();

  private static StreamingWorker worker() {
    try {
      return new StreamingWorker();
    } catch (IOException e) {
      throw new AssertionError("no port", e);
    }
  }

  @DynamicPropertySource
  static void instances(DynamicPropertyRegistry registry) {
    instance(registry, "traced", 0, WORKER.port(), "batch");
  }

  @AfterAll
  static void stopWorker() {
    WORKER.close();
  }

  @Test
  void everyAttemptCarriesTheTraceOfTheSubmit() {
    WORKER.on(
        "/callback/traced",
        (request, out) -> {
          for (CallbackRequest.Job job : request.jobs()) {
            CallbackResult result =
                new CallbackResult(
                    job.taskId(),
                    job.incarnation(),
                    job.attempt() == 1 ? CallbackResult.RETRY : CallbackResult.DONE,
                    0L,
                    null,
                    null);
            out.write((JSON.writeValueAsString(result) + "\n").getBytes(StandardCharsets.UTF_8));
          }
        });
    assertThat(submit("traced", TRACE, "{\"k\":\"v\"}", 0).status()).isEqualTo(201);

    eventually().until(() -> state("traced").equals("finished"));
    assertThat(WORKER.requests("/callback/traced").stream().map(one -> one.jobs().get(0)))
        .hasSize(2)
        .allSatisfy(
            job ->
                assertThat(job.headers())
                    .containsOnly(
                        java.util.Map.entry("k", "v"), java.util.Map.entry("traceparent", TRACE)));
    // The same job, from elsewhere: done already, and no conflict.
    Answer again = submit("traced", ANOTHER, "{\"k\":\"v\"}", 0);
    assertThat(again.status()).isEqualTo(200);
    assertThat(again.at("/outcome")).isEqualTo("already_done");
  }

  @Test
  void theSameJobFromAnotherTraceIsTheSameJob() {
    assertThat(submit("waits", TRACE, "{}", 3_600_000).status()).isEqualTo(201);

    assertThat(submit("waits", ANOTHER, "{}", 3_600_000).at("/outcome")).isEqualTo("already_there");
    assertThat(submit("waits", null, "{}", 3_600_000).at("/outcome")).isEqualTo("already_there");
    assertThat(job("waits").at("/headers/traceparent").asString()).isEqualTo(TRACE);
  }

  @Test
  void aJobNamesItsTraceItselfOrElseItsRequestDoes() {
    String own = "{\"traceparent\":\"" + ANOTHER + "\"}";
    assertThat(submit("own", TRACE, own, 3_600_000).status()).isEqualTo(201);
    assertThat(job("own").at("/headers/traceparent").asString()).isEqualTo(ANOTHER);
  }

  @Test
  void aChangedJobKeepsItsTrace() {
    assertThat(submit("changed", TRACE, "{}", 3_600_000).status()).isEqualTo(201);
    String path = "/api/v1/jobs/changed/order.close/" + id;
    assertThat(api.patch(path, "{\"params\":\"other\"}").status()).isEqualTo(200);
    assertThat(job("changed").at("/params").asString()).isEqualTo("other");
    assertThat(job("changed").at("/headers/traceparent").asString()).isEqualTo(TRACE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "junk",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01"
      })
  void aRequestWithoutASoundTraceSubmitsAJobWithout(String header) {
    assertThat(submit("unsound", header, "{}", 3_600_000).status()).isEqualTo(201);
    assertThat(job("unsound").at("/headers").isEmpty()).isTrue();
  }

  @Test
  void whoPullsGetsItAsAHeader() {
    assertThat(submit("pulled", TRACE, "{}", 0).status()).isEqualTo(201);
    JsonNode claim =
        api.post("/api/v1/claims", "{\"application\":\"pulled\",\"taskTypes\":[\"order.close\"]}")
            .body()
            .at("/jobs/0");
    assertThat(claim.at("/headers/traceparent").asString()).isEqualTo(TRACE);
    String end = "/api/v1/claims/" + claim.at("/token").asString() + "/ack";
    assertThat(api.post(end, "").status()).isEqualTo(200);
    assertThat(state("pulled")).isEqualTo("finished");
  }

  private Answer submit(
      String application,
      @org.jspecify.annotations.Nullable String header,
      String headers,
      long delay) {
    String body =
        """
        {"application":"%s","taskType":"order.close","taskId":"%s","delay":%d,"headers":%s}"""
            .formatted(application, id, delay, headers);
    return api.send(
        "/api/v1/jobs",
        request -> {
          request.header("Content-Type", "application/json");
          if (header != null) {
            request.header("traceparent", header);
          }
          return request.POST(BodyPublishers.ofString(body));
        });
  }

  private JsonNode job(String application) {
    return api.get("/api/v1/jobs/" + application + "/order.close/" + id).body();
  }

  private String state(String application) {
    return job(application).at("/state").asString("");
  }

  private static ConditionFactory eventually() {
    return Awaitility.await().pollInterval(Duration.ofMillis(20)).atMost(Duration.ofSeconds(30));
  }
}
