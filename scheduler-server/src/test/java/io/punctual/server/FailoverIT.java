package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.Ports;
import io.punctual.server.dispatch.ShortDispatchTimes;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.UUID;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Most instances in the registry are dead: the one that lives does all jobs. */
@Import(ShortDispatchTimes.class)
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = "eureka.client.enabled=false")
@Tag("full")
class FailoverIT extends SharedRedisTestBase {

  private static final JsonMapper JSON = new JsonMapper();
  private static final StreamingWorker WORKER = worker();

  private final String run = UUID.randomUUID().toString().substring(0, 8);

  private static StreamingWorker worker() {
    try {
      return new StreamingWorker();
    } catch (IOException e) {
      throw new AssertionError("no port", e);
    }
  }

  @DynamicPropertySource
  static void instances(DynamicPropertyRegistry registry) {
    int closed = Ports.free();
    for (int i = 0; i < 6; i++) {
      instance(registry, "few", i, closed, "batch");
    }
    instance(registry, "few", 6, WORKER.port(), "batch");
    registry.add(
        "spring.cloud.discovery.client.simple.instances.few[6].metadata[punctual.concurrency]",
        () -> "2");
  }

  @AfterAll
  static void stop() {
    WORKER.close();
  }

  @Test
  void theSurvivorOfSevenInstancesRunsAllJobsAndKeepsItsCapacity() {
    answersDone("few");
    // One every 150 ms.
    submit("few", 0, 120, 150);

    allDone("few", 120);
  }

  private void answersDone(String app) {
    WORKER.on(
        "/callback/" + app,
        (request, out) -> {
          for (CallbackRequest.Job job : request.jobs()) {
            out.write(
                (JSON.writeValueAsString(
                            new CallbackResult(
                                job.taskId(), job.incarnation(), "done", null, null, null))
                        + "\n")
                    .getBytes(StandardCharsets.UTF_8));
          }
        });
  }

  private void allDone(String app, int jobs) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(
            () -> {
              JsonNode queue = api.get("/api/v1/queues/" + app + "/order.close").body();
              assertThat(queue.at("/counters/done").asInt()).isEqualTo(jobs);
              assertThat(queue.at("/counters/unknown").asInt()).isZero();
              assertThat(queue.at("/counters/failed").asInt()).isZero();
            });
    Awaitility.await()
        .untilAsserted(
            () ->
                assertThat(api.get("/api/v1/workers?application=" + app).body().get("items"))
                    .allSatisfy(worker -> assertThat(worker.get("inFlight").asInt()).isZero()));
  }

  private void submit(String app, int from, int count, int spacing) {
    StringBuilder jobs = new StringBuilder();
    IntStream.range(from, from + count)
        .forEach(
            i ->
                jobs.append(jobs.isEmpty() ? "" : ",")
                    .append(
                        "{\"application\":\"%s\",\"taskType\":\"order.close\",\"taskId\":\"%s-%d\",\"delay\":%d}"
                            .formatted(app, run, i, (i - from) * spacing)));
    assertThat(api.post("/api/v1/jobs/batch", "{\"jobs\":[" + jobs + "]}").status()).isEqualTo(200);
  }
}
