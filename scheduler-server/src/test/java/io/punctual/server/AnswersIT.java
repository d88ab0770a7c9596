package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.dispatch.callback.RawWorker;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Answers that are too long, too slow, make no sense, or never end: decided, and other jobs do not
 * wait.
 */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = "eureka.client.enabled=false")
class AnswersIT extends SharedRedisTestBase {

  private static final JsonMapper JSON = new JsonMapper();
  private static final byte[] MEGABYTE = "x".repeat(1 << 20).getBytes(StandardCharsets.UTF_8);
  private static final StreamingWorker WORKER = worker();
  private static final Map<String, List<Integer>> ATTEMPTS = new ConcurrentHashMap<>();
  private static final Set<String> SENSIBLE = ConcurrentHashMap.newKeySet();
  private static final RawWorker RAW = rawWorker();

  private final String id = UUID.randomUUID().toString();

  private static StreamingWorker worker() {
    try {
      return new StreamingWorker();
    } catch (IOException e) {
      throw new AssertionError("no port", e);
    }
  }

  private static RawWorker rawWorker() {
    try {
      return new RawWorker(AnswersIT::answer);
    } catch (IOException e) {
      throw new AssertionError("no port", e);
    }
  }

  /**
   * Does the job, and says so with a status that is none, except to applications that are sensible
   * by now.
   */
  private static boolean answer(String request, OutputStream out) throws IOException {
    int end = request.indexOf("\r\n\r\n");
    String head = request.substring(0, end);
    String app = head.split(" ", 3)[1].substring("/callback/".length());
    byte[] body = new byte[0];
    int attempt = 0;
    if (app.endsWith("batch")) {
      CallbackRequest read = JSON.readValue(request.substring(end + 4), CallbackRequest.class);
      if (!read.jobs().isEmpty()) {
        attempt = read.jobs().get(0).attempt();
        body = done(read);
      }
    } else if (head.startsWith("POST ")) {
      attempt =
          head.lines()
              .filter(line -> line.startsWith("ce-attempt: "))
              .mapToInt(line -> Integer.parseInt(line.substring("ce-attempt: ".length())))
              .findFirst()
              .orElseThrow();
    }
    boolean sensible = attempt == 0 || SENSIBLE.contains(app);
    if (attempt > 0) {
      ATTEMPTS.computeIfAbsent(app, key -> new CopyOnWriteArrayList<>()).add(attempt);
    }
    String status = sensible ? "200 OK" : "2000 WHAT";
    out.write(
        ("HTTP/1.1 " + status + "\r\nContent-Length: " + body.length + "\r\n\r\n")
            .getBytes(StandardCharsets.UTF_8));
    out.write(body);
    return true;
  }

  @DynamicPropertySource
  static void instances(DynamicPropertyRegistry registry) {
    for (String app : List.of("drips", "endless", "huge", "foreign", "strange", "fine")) {
      instance(registry, app, 0, WORKER.port(), "batch");
    }
    for (String protocol : List.of("batch", "single")) {
      instance(registry, "senseless-" + protocol, 0, RAW.uri().getPort(), protocol);
    }
  }

  @AfterAll
  static void stop() throws IOException {
    WORKER.close();
    RAW.close();
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

  @ParameterizedTest
  @ValueSource(strings = {"batch", "single"})
  void aStatusThatMakesNoSenseEndsNoJob(String protocol) {
    String app = "senseless-" + protocol;

    submit(app, "0s,1h", "");

    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> job(app).at("/attempts/unknown").asInt(0) == 2);
    JsonNode job = job(app);
    assertThat(job.at("/state").asString()).isEqualTo("delayed");
    assertThat(job.at("/attempts/counted").asInt()).isEqualTo(2);
    assertThat(job.at("/lastError/message").asString()).contains("the answer is not HTTP");
    assertThat(ATTEMPTS.get(app)).containsExactly(1, 2);

    SENSIBLE.add(app);
    assertThat(api.post(location(app) + "/run", "").status()).isEqualTo(200);

    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> job(app).at("/state").asString("").equals("finished"));
    assertThat(job(app).at("/finishedBy/attempt").asInt()).isEqualTo(3);
    assertThat(ATTEMPTS.get(app)).containsExactly(1, 2, 3);
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
    submit(app, "1h,1h", more);
  }

  private void submit(String app, String retry, String more) {
    assertThat(
            api.post(
                    "/api/v1/jobs",
                    """
                    {"application":"%s","taskType":"order.close","taskId":"%s",
                     "delay":0,"retry":"%s"%s}
                    """
                        .formatted(app, id, retry, more))
                .status())
        .isEqualTo(201);
  }

  /** The job when it is finished, or after its first attempt. */
  private JsonNode ended(String app) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () -> {
              JsonNode job = job(app);
              return job.at("/state").asString("").equals("finished")
                  || !job.at("/lastError").isMissingNode();
            });
    return job(app);
  }

  private JsonNode job(String app) {
    return api.get(location(app)).body();
  }

  private String location(String app) {
    return "/api/v1/jobs/" + app + "/order.close/" + id;
  }
}
