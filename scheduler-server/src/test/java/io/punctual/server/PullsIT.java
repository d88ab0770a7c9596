package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.ApiClient.Answer;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.SpringBootTest;

/** Pullers that wait, that vanish, that leave, and that give back what they got. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {"eureka.client.enabled=false", "punctual.buckets=2"})
class PullsIT extends SharedRedisTestBase {

  private final String application = "pulls-" + UUID.randomUUID().toString().substring(0, 8);
  private final ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();

  @AfterEach
  void end() {
    callers.shutdownNow();
  }

  private void submit(String id, String delay) {
    Answer answer =
        api.post(
            "/api/v1/jobs",
            """
            {"application":"%s","taskType":"mail","taskId":"%s","delay":"%s","retry":"never"}"""
                .formatted(application, id, delay));
    assertThat(answer.status()).isEqualTo(201);
  }

  private String claim(String wait, String worker, int max) {
    return claim(wait, worker, max, "1s");
  }

  private String claim(String wait, String worker, int max, String timeToRun) {
    return """
    {"application":"%s","taskTypes":["mail"],"wait":"%s","timeToRun":"%s","worker":"%s","max":%d}"""
        .formatted(application, wait, timeToRun, worker, max);
  }

  /** A command of the application, whose name is written in capitals. */
  private Answer command(String command, String more) {
    Answer answer =
        api.post(
            "/api/v1/command",
            "{\"command\":\"%s\",\"application\":\"%s\",\"topic\":\"mail\",%s}"
                .formatted(command, application.toUpperCase(Locale.ROOT), more));
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    return answer;
  }

  @Test
  void aTokenIsOfItsApplicationHoweverThatIsWritten() {
    command("add", "\"id\":\"mixed\",\"delay\":0,\"body\":\"x\"");
    String token = command("pop", "\"timeout\":20").at("/token");
    command("touch", "\"id\":\"mixed\",\"TTR\":30,\"token\":\"" + token + "\"");
    Answer back = command("nack", "\"id\":\"mixed\",\"delay\":0,\"token\":\"" + token + "\"");
    assertThat(back.at("/value")).isEqualTo("delay");

    token = command("pop", "\"timeout\":20").at("/token");
    command("release", "\"id\":\"mixed\",\"token\":\"" + token + "\"");
    token = command("pop", "\"timeout\":20").at("/token");
    command("finish", "\"id\":\"mixed\",\"token\":\"" + token + "\"");

    assertThat(job("mixed").at("/state")).isEqualTo("finished");
  }

  @Test
  void aFailureIsThatOfTheWorkerThatClaimedTheJob() {
    for (String end : new String[] {"nack", "reject"}) {
      submit(end, "0s");
      Answer claimed = api.post("/api/v1/claims", claim("20s", "mailer-7", 1, "30s"));
      String token = claimed.at("/jobs/0/token");
      api.post("/api/v1/claims/" + token + "/" + end, "{\"error\":\"no address\"}");
      assertThat(job(end).at("/lastError/message")).isEqualTo("no address");
      assertThat(job(end).at("/lastError/instance")).isEqualTo("mailer-7");
    }
    command("add", "\"id\":\"popped\",\"delay\":0,\"retry\":\"never\"");
    String token = command("pop", "\"timeout\":20,\"worker\":\"mailer-8\"").at("/token");
    command("nack", "\"id\":\"popped\",\"token\":\"" + token + "\"");
    assertThat(job("popped").at("/lastError/instance")).isEqualTo("mailer-8");
  }

  private CompletableFuture<Answer> waiting(String worker) {
    return CompletableFuture.supplyAsync(
        () -> api.post("/api/v1/claims", claim("15s", worker, 10)), callers);
  }

  private Answer leave(String worker) {
    return api.post(
        "/api/v1/claims:leave",
        "{\"application\":\"%s\",\"worker\":\"%s\"}".formatted(application, worker));
  }

  private Answer job(String id) {
    return api.get("/api/v1/jobs/" + application + "/mail/" + id);
  }

  /** A puller whose process is gone, or whose host resets its connections, while it waits. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void jobsForAPullerThatIsGoneGoToTheNextOneAtNoAttempt(boolean reset) throws Exception {
    String body = claim("20s", "gone", 100);
    Socket socket = new Socket("localhost", port);
    socket.setSoLinger(reset, 0);
    socket
        .getOutputStream()
        .write(
            ("POST /api/v1/claims HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    + "Content-Length: "
                    + body.length()
                    + "\r\n\r\n"
                    + body)
                .getBytes(StandardCharsets.US_ASCII));
    for (int i = 0; i < 10; i++) {
      submit("j" + i, "1h");
    }
    socket.close();
    for (int i = 0; i < 10; i++) {
      Answer due = api.patch("/api/v1/jobs/" + application + "/mail/j" + i, "{\"delay\":0}");
      assertThat(due.status()).isEqualTo(200);
    }

    int got = 0;
    long start = System.nanoTime();
    while (got < 10) {
      Answer answer = api.post("/api/v1/claims", claim("5s", "next", 10, "1m"));
      for (var job : answer.body().path("jobs")) {
        assertThat(job.get("attempt").intValue()).isEqualTo(1);
        assertThat(
                api.post("/api/v1/claims/" + job.get("token").stringValue() + "/ack", "{}")
                    .status())
            .isEqualTo(200);
        got++;
      }
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
    }
  }

  @Test
  void aJobThatWasReceivedAndNeverEndedUsesUpItsAttempt() {
    submit("a", "0s");
    assertThat(api.post("/api/v1/claims", claim("5s", "careless", 1)).status()).isEqualTo(200);
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> job("a").at("/state").equals("dead"));
  }

  @Test
  void aWorkerThatLeavesIsAnsweredAtOnceAndGetsNothingAnyMore() throws Exception {
    CompletableFuture<Answer> one = waiting("leaving");
    CompletableFuture<Answer> two = waiting("leaving");
    CompletableFuture<Answer> other = waiting("staying");
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .until(
            () -> {
              Answer left = leave("leaving");
              assertThat(left.status()).isEqualTo(200);
              return one.isDone() && two.isDone();
            });
    assertThat(one.get().status()).isEqualTo(204);
    assertThat(two.get().status()).isEqualTo(204);
    assertThat(other.isDone()).isFalse();
    submit("a", "0s");
    assertThat(other.get(20, TimeUnit.SECONDS).at("/jobs/0/taskId")).isEqualTo("a");
    assertThat(leave("leaving").at("/ended")).isEqualTo("0");
  }

  @Test
  void whoLeavesMustSayItsName() {
    Answer answer =
        api.post("/api/v1/claims:leave", "{\"application\":\"%s\"}".formatted(application));
    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.at("/detail")).contains("worker is missing");
  }

  @Test
  void aReleasedJobWaitsForItsDelay() throws IOException {
    submit("a", "0s");
    Answer claimed = api.post("/api/v1/claims", claim("5s", "w", 1, "1m"));
    Answer released =
        api.post(
            "/api/v1/claims/" + claimed.at("/jobs/0/token") + "/release", "{\"delay\":\"1h\"}");
    assertThat(released.status()).isEqualTo(200);
    assertThat(released.at("/outcome")).isEqualTo("released");
    assertThat(api.post("/api/v1/claims", claim("0s", "w", 1)).status()).isEqualTo(204);
    Answer job = job("a");
    assertThat(job.at("/state")).isEqualTo("delayed");
    assertThat(job.at("/attempts/counted")).isEqualTo("0");
    assertThat(job.at("/dueAt")).isEqualTo(released.at("/dueAt"));
    assertThat(
            api.post(
                    "/api/v1/claims/" + claimed.at("/jobs/0/token") + "/release",
                    "{\"delay\":\"-1s\"}")
                .status())
        .isEqualTo(400);
  }

  @Test
  void theCommandProtocolReleasesToo() {
    String command = "{\"application\":\"" + application + "\",\"command\":";
    submit("a", "0s");
    Answer popped =
        api.post("/api/v1/command", command + "\"pop\",\"topic\":\"mail\",\"timeout\":5}");
    Answer released =
        api.post(
            "/api/v1/command",
            command
                + "\"release\",\"id\":\"a\",\"delay\":60,\"token\":\""
                + popped.at("/token")
                + "\"}");
    assertThat(released.status()).isEqualTo(200);
    assertThat(released.at("/value")).isEqualTo("delay");
    assertThat(job("a").at("/attempts/counted")).isEqualTo("0");
    Answer again =
        api.post(
            "/api/v1/command",
            command + "\"release\",\"id\":\"a\",\"token\":\"" + popped.at("/token") + "\"}");
    assertThat(again.status()).isEqualTo(409);
  }
}
