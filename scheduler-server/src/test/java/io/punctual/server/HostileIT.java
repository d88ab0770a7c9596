package io.punctual.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.ApiClient.Answer;
import io.punctual.server.BadInputs.Bad;
import io.punctual.server.HostileRequests.Raw;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.net.Socket;
import java.net.SocketException;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.context.SpringBootTest;

/**
 * What nobody sends who means well: each is refused with a 4xx that tells nothing of the inside,
 * and afterwards the server is healthy, its memory is free, its log has no line that somebody else
 * wrote, and the store is as it was.
 */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {
      "eureka.client.enabled=false",
      "server.tomcat.connection-timeout=1s",
      "logging.file.name=target/hostile.log"
    })
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Isolated("its log is the process's")
class HostileIT extends SharedRedisTestBase {

  private static final Path LOG = Path.of("target/hostile.log");
  private static final String JOB = "/api/v1/jobs/shop/order.close/there";
  private static final Pattern STATUS = Pattern.compile("(?m)^HTTP/1\\.[01] (\\d{3})");
  private static final Pattern LOG_LINE = Pattern.compile("^\\d{4}-\\d\\d-\\d\\dT\\d\\d:.*");

  private Map<String, String> before = Map.of();
  private int linesBefore;

  @BeforeAll
  void submit() throws IOException {
    connectApi();
    String job =
        "{\"application\":\"shop\",\"taskType\":\"order.close\",\"taskId\":\"there\","
            + "\"delay\":\"1d\",\"tags\":[\"t\"]}";
    assertThat(api.post("/api/v1/jobs", job).status()).isEqualTo(201);
    closeApi();
    before = StoreDump.of(connections, prefix);
    linesBefore = Files.readAllLines(LOG).size();
  }

  @AfterAll
  void allIsAsItWas() throws IOException {
    assertThat(StoreDump.of(connections, prefix)).isEqualTo(before);
    connectApi();
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> api.get("/actuator/health").status() == 200);
    assertThat(api.get(JOB).at("/state")).isEqualTo("delayed");
    closeApi();
    List<String> lines = Files.readAllLines(LOG);
    lines = lines.subList(linesBefore, lines.size());
    assertThat(lines).isNotEmpty().allSatisfy(HostileIT::assertOurs);
    // Nothing of all this is anything that an operator must look at.
    assertThat(lines).noneMatch(line -> line.contains(" ERROR "));
    Files.delete(LOG);
  }

  // Tomcat writes the stack of the first request that it refuses; those lines are ours, too.
  private static void assertOurs(String line) {
    assertThat(line).doesNotContain("\u001b", "\u0007", "\u0000", "\u202e");
    if (!LOG_LINE.matcher(line).matches()) {
      assertThat(line)
          .matches("|\\s+at .*|\\s+\\.\\.\\. .*|(Caused by: )?[a-z]+(\\.\\w+)+.*|\\s*Note:.*");
    }
  }

  static Stream<Bad> bodies() {
    return Stream.concat(BadInputs.all(), HostileRequests.bodies());
  }

  @ParameterizedTest
  @MethodSource("bodies")
  void aBadBodyIsRefusedWhereJobsComeIn(Bad bad) {
    assertRefused(post("/api/v1/jobs", bad), bad.status());
  }

  private Answer post(String path, Bad bad) {
    return api.call("POST", path, bad.contentType(), BodyPublishers.ofByteArray(bad.body()));
  }

  /** Every way in that reads JSON. */
  static Stream<String> doors() {
    return Stream.of(
        "POST /api/v1/jobs/batch",
        "PATCH " + JOB,
        "POST /api/v1/jobs:cancel",
        "POST /api/v1/jobs:reschedule",
        "POST /api/v1/jobs:requeue",
        "POST /api/v1/jobs:restore",
        "POST /api/v1/jobs:purge",
        "POST /api/v1/claims",
        "POST /api/v1/claims/c2hvcAphCjEKaW5jYXJuYXRpb24KdG9rZW4/nack",
        "POST /api/v1/command",
        "POST /api/v1/workers:probe",
        "PUT /api/v1/workers/shop/one",
        "PUT /api/v1/queues/shop/order.close/limits",
        "PUT /api/v1/queues/shop/order.close/expiry",
        "PUT /api/v1/queues/shop/order.close/hours",
        "PUT /api/v1/calendars/none");
  }

  @ParameterizedTest
  @MethodSource("doors")
  void whatIsNoJsonOfOursIsRefusedAtEveryDoor(String door) {
    String[] parts = door.split(" ", -1);
    List<Bad> malformed =
        bodies().filter(bad -> "body".equals(bad.field()) || bad.status() == 415).toList();
    assertThat(malformed).hasSizeGreaterThan(30);
    for (Bad bad : malformed) {
      if (bad.body().length == 0) {
        continue;
      }
      Answer answer =
          api.call(parts[0], parts[1], bad.contentType(), BodyPublishers.ofByteArray(bad.body()));
      assertRefused(answer, bad.status());
    }
  }

  @Test
  void aBodyThatEndsAnywhereIsRefused() {
    byte[] whole =
        ("{\"application\":\"shop\",\"taskType\":\"a\",\"taskId\":\"cut\",\"delay\":\"1h\","
                + "\"params\":\"{\\\"ü\\\":1}\",\"headers\":{\"a\":\"b\"},\"tags\":[\"x\"]}")
            .getBytes(UTF_8);
    for (int length = 0; length < whole.length; length++) {
      Answer answer =
          api.call(
              "POST",
              "/api/v1/jobs",
              "application/json",
              BodyPublishers.ofByteArray(whole, 0, length));
      assertRefused(answer, 400);
    }
  }

  private static void assertRefused(Answer answer, int status) {
    assertThat(answer.status()).as(answer.text()).isEqualTo(status);
    assertNothingOfTheInside(answer.text());
  }

  private static void assertNothingOfTheInside(String text) {
    assertThat(text)
        .doesNotContain("java.", "tools.jackson", "io.punctual", "Exception", "\tat ")
        .doesNotContain("redis", "Redis", "lua", "KEYS[", "Tomcat", "Coyote", "127.0.0.1")
        .hasSizeLessThan(4_000);
  }

  static Stream<Raw> raw() {
    return HostileRequests.raw();
  }

  @ParameterizedTest
  @MethodSource("raw")
  void whatNoClientWouldSendIsRefusedAndNothingBehindItIsRead(Raw raw) {
    String answer = exchange(raw.bytes());

    List<Integer> statuses = new ArrayList<>();
    Matcher status = STATUS.matcher(answer);
    while (status.find()) {
      // 100 says that the body may come.
      if (!status.group(1).equals("100")) {
        statuses.add(Integer.valueOf(status.group(1)));
      }
    }
    assertThat(statuses).as(answer).isSubsetOf(raw.statuses());
    if (!raw.mayBeSilent()) {
      assertThat(statuses).as("answers: %s", answer).hasSize(1);
    }
    assertNothingOfTheInside(answer);
    if (statuses.stream().anyMatch(code -> code >= 400) && raw.problem()) {
      assertThat(answer).contains("application/problem+json", "\"code\":");
    }
  }

  // To the end of the stream: the server must close, by itself, what it cannot make sense of.
  private String exchange(byte[] request) {
    try (Socket socket = new Socket("localhost", port)) {
      socket.setSoTimeout(20_000);
      CompletableFuture<Void> sent =
          CompletableFuture.runAsync(
              () -> {
                try {
                  socket.getOutputStream().write(request);
                  socket.getOutputStream().flush();
                } catch (IOException e) {
                  // The server does not listen to all of it.
                  return;
                }
              });
      String answer = new String(readAll(socket.getInputStream()), UTF_8);
      sent.join();
      return answer;
    } catch (IOException e) {
      throw new AssertionError("the server keeps the connection", e);
    }
  }

  private static byte[] readAll(InputStream in) throws IOException {
    java.io.ByteArrayOutputStream all = new java.io.ByteArrayOutputStream();
    byte[] buffer = new byte[8192];
    try {
      int count = in.read(buffer);
      while (count >= 0) {
        all.write(buffer, 0, count);
        count = in.read(buffer);
      }
    } catch (SocketException e) {
      // Reset: what was unread is thrown away with it.
      return all.toByteArray();
    }
    return all.toByteArray();
  }

  @Tag("full")
  @Test
  void aBodyThatDripsIsGivenUp() throws IOException {
    long begin = System.nanoTime();
    try (Socket socket = new Socket("localhost", port)) {
      socket.setSoTimeout(60_000);
      OutputStream out = socket.getOutputStream();
      out.write(HostileRequests.head("POST /api/v1/jobs", "Content-Length: 100000"));
      CompletableFuture<Void> dripping =
          CompletableFuture.runAsync(
              () ->
                  Awaitility.await()
                      .pollInterval(Duration.ofMillis(100))
                      .atMost(Duration.ofMinutes(1))
                      .until(
                          () -> {
                            try {
                              out.write(' ');
                              return false;
                            } catch (IOException e) {
                              return true;
                            }
                          }));
      String answer = new String(readAll(socket.getInputStream()), UTF_8);
      assertThat(answer).startsWith("HTTP/1.1 400").contains("did not arrive within");
      dripping.join();
    }
    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(30));
  }

  @Test
  void fiftyMegabytesInChunksAreNotRead() {
    byte[] chunk = ("10000\r\n" + " ".repeat(0x10000) + "\r\n").getBytes(ISO_8859_1);
    byte[] head = HostileRequests.head("POST /api/v1/jobs", "Transfer-Encoding: chunked");
    byte[] request = new byte[head.length + 800 * chunk.length];
    System.arraycopy(head, 0, request, 0, head.length);
    for (int i = 0; i < 800; i++) {
      System.arraycopy(chunk, 0, request, head.length + i * chunk.length, chunk.length);
    }
    String answer = exchange(request);
    if (!answer.isEmpty()) {
      assertThat(answer).startsWith("HTTP/1.1 413");
    }
  }

  @Test
  void nothingOfAHundredMegabytesIsKept() {
    List<Bad> large = bodies().filter(bad -> bad.body().length > 400_000).toList();
    assertThat(large).hasSizeGreaterThan(5);
    sendAll(large, 10_000_000);
    long before = usedAfterCollection();
    sendAll(large, 100_000_000);
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> usedAfterCollection() < before + 30_000_000);
  }

  private void sendAll(List<Bad> bodies, long bytes) {
    long sent = 0;
    for (int i = 0; sent < bytes; i = (i + 1) % bodies.size()) {
      Bad bad = bodies.get(i);
      assertRefused(post("/api/v1/jobs", bad), bad.status());
      sent += bad.body().length;
    }
  }

  private static long usedAfterCollection() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }
}
