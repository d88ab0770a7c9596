package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Answers that are too long, too slow, or never end: decided, and nobody else's jobs wait. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = "eureka.client.enabled=false")
class AnswersIT extends SharedRedisTestBase {

  private static final JsonMapper JSON = new JsonMapper();
  private static final byte[] MEGABYTE = "x".repeat(1 << 20).getBytes(StandardCharsets.UTF_8);
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
    for (String app : List.of("drips", "endless", "huge", "foreign", "strange", "fine")) {
      instance(registry, app, 0, WORKER.port(), "batch");
    }
  }

  @AfterAll
  static void stop() {
    WORKER.close();
  }

  @Test
  void aByteASecondIsTooSlowAtTheEndOfTheJobsTimeAndHoldsNobodyUp() {
    CountDownLatch gone = new CountDownLatch(1);
    on(
        "drips",
        (request, out) -> {
          try {
            for (byte b : done(request)) {
              out.write(b);
              out.flush();
              gone.await(1, TimeUnit.SECONDS);
            }
          } catch (IOException e) {
            gone.countDown();
            throw e;
          }
        });
    on("fine", (request, out) -> out.write(done(request)));

    submit("drips", ",\"timeToRun\":2000");
    submit("fine", "");

    assertThat(ended("fine").at("/state").asString()).isEqualTo("finished");
    assertThat(gone.getCount()).as("it drips still").isOne();
    JsonNode dripped = ended("drips");
    assertThat(dripped.at("/attempts/unknown").asInt()).isEqualTo(1);
    assertThat(dripped.at("/lastError/message").asString()).contains("time-to-run");
    // The scheduler has hung up.
    Awaitility.await().until(() -> gone.getCount() == 0);
  }

  @Test
  void anAnswerThatNeverEndsIsLeft() {
    CountDownLatch gone = new CountDownLatch(1);
    on(
        "endless",
        (request, out) -> {
          try {
            while (true) {
              out.write("\n".repeat(1 << 16).getBytes(StandardCharsets.UTF_8));
            }
          } finally {
            gone.countDown();
          }
        });

    submit("endless", "");

    JsonNode job = ended("endless");
    assertThat(job.at("/attempts/unknown").asInt()).isEqualTo(1);
    assertThat(job.at("/lastError/message").asString()).contains("the answer is longer than");
    Awaitility.await().until(() -> gone.getCount() == 0);
  }

  @Test
  void sixteenMegabytesOfALineAreNotKept() {
    on(
        "huge",
        (request, out) -> {
          for (int i = 0; i < 16; i++) {
            out.write(MEGABYTE);
          }
          out.write('\n');
          out.write(done(request));
        });

    submit("huge", "");

    JsonNode job = ended("huge");
    assertThat(job.at("/attempts/unknown").asInt()).isEqualTo(1);
    assertThat(job.at("/lastError/message").asString())
        .contains("a line of the answer is longer than");
  }

  @Test
  void fewForeignLinesBeforeTheRightOneAreReadPast() {
    on(
        "foreign",
        (request, out) -> {
          foreign(out, 100);
          out.write(done(request));
        });

    submit("foreign", "");

    assertThat(ended("foreign").at("/state").asString()).isEqualTo("finished");
  }

  @Test
  void tenMegabytesOfForeignLinesAreNot() {
    on(
        "strange",
        (request, out) -> {
          foreign(out, 10_000);
          out.write(done(request));
        });

    submit("strange", "");

    JsonNode job = ended("strange");
    assertThat(job.at("/attempts/unknown").asInt()).isEqualTo(1);
    assertThat(job.at("/lastError/message").asString())
        .contains("the answer is longer than", "without a result that counts");
  }

  private static void foreign(OutputStream out, int lines) throws IOException {
    byte[] foreign =
        ("{\"taskId\":\"another\",\"x\":\"" + "y".repeat(1_000) + "\"}\n")
            .getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < lines; i++) {
      out.write(foreign);
    }
  }

  private static void on(String app, StreamingWorker.Answer answer) {
    WORKER.on("/callback/" + app, answer);
  }

  private static byte[] done(CallbackRequest request) {
    CallbackRequest.Job job = request.jobs().get(0);
    return (JSON.writeValueAsString(
                new CallbackResult(
                    job.taskId(), job.incarnation(), CallbackResult.DONE, null, null, null))
            + "\n")
        .getBytes(StandardCharsets.UTF_8);
  }

  private void submit(String app, String more) {
    assertThat(
            api.post(
                    "/api/v1/jobs",
                    """
                    {"application":"%s","taskType":"order.close","taskId":"%s","delay":0,"retry":"1h,1h"%s}
                    """
                        .formatted(app, id, more))
                .status())
        .isEqualTo(201);
  }

  /** The job when it is finished, or after its first attempt. */
  private JsonNode ended(String app) {
    String location = "/api/v1/jobs/" + app + "/order.close/" + id;
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () -> {
              JsonNode job = api.get(location).body();
              return job.at("/state").asString("").equals("finished")
                  || !job.at("/lastError").isMissingNode();
            });
    return api.get(location).body();
  }
}
