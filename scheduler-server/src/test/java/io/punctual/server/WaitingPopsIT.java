package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.coyote.AbstractProtocol;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Many who wait for jobs at once. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = "eureka.client.enabled=false")
@Isolated("counts the process's threads")
@Tag("full")
class WaitingPopsIT extends SharedRedisTestBase {

  private static final int POPPERS = 2_000;

  /** So many jobs are due one after the other, and all others at once, after them. */
  private static final int SPACED = 400;

  private static final long APART = 5;
  private static final JsonMapper JSON = new JsonMapper();

  @Autowired private ServletWebServerApplicationContext application;

  private record Popped(JsonNode answer, long atMillis) {}

  @Test
  void thousandsWaitWithoutThreadsAndEachGetsAJobSoonAfterItIsDue() throws Exception {
    // The client's own threads are virtual, hence not counted with the server's.
    try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
        HttpClient http = HttpClient.newBuilder().executor(clients).build();
        ApiClient api = new ApiClient(port)) {
      int threads = ManagementFactory.getThreadMXBean().getThreadCount();
      List<CompletableFuture<Popped>> waiting = new ArrayList<>();
      for (int i = 0; i < POPPERS; i++) {
        waiting.add(pop(http));
      }
      Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> connections() >= POPPERS);
      int more = ManagementFactory.getThreadMXBean().getThreadCount() - threads;
      long due = System.currentTimeMillis() + 4_000;
      for (int batch = 0; batch < POPPERS / 1_000; batch++) {
        StringBuilder jobs = new StringBuilder("{\"jobs\":[");
        for (int i = 0; i < 1_000; i++) {
          jobs.append(i == 0 ? "" : ",")
              .append(
                  """
                  {"application":"default","taskType":"wait","taskId":"%d","delayTime":%d}"""
                      .formatted(
                          batch * 1_000 + i, due + APART * Math.min(batch * 1_000 + i, SPACED)));
        }
        assertThat(api.post("/api/v1/jobs/batch", jobs + "]}").status()).isEqualTo(200);
      }
      CompletableFuture.allOf(waiting.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);

      Set<String> ids = new HashSet<>();
      List<Long> late = new ArrayList<>();
      for (CompletableFuture<Popped> pop : waiting) {
        Popped popped = pop.join();
        ids.add(popped.answer().get("id").stringValue());
        long dueTime = popped.answer().get("delayTime").longValue();
        assertThat(popped.atMillis()).isGreaterThanOrEqualTo(dueTime);
        if (dueTime < due + APART * SPACED) {
          late.add(popped.atMillis() - dueTime);
        }
      }
      late.sort(null);
      System.out.printf(
          "%d waiting pops cost %d threads; %d of them, %d ms apart, were answered after the due"
              + " time: median %d, p99 %d, max %d ms%n",
          POPPERS,
          more,
          SPACED,
          APART,
          late.get(SPACED / 2),
          late.get(SPACED * 99 / 100),
          late.get(SPACED - 1));
      assertThat(ids).hasSize(POPPERS);
      assertThat(more).isLessThan(100);
    }
  }

  private CompletableFuture<Popped> pop(HttpClient http) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/api/v1/command"))
            .version(HttpClient.Version.HTTP_1_1)
            .timeout(Duration.ofSeconds(70))
            .header("Content-Type", "application/json")
            .POST(
                HttpRequest.BodyPublishers.ofString(
                    "{\"command\":\"pop\",\"topic\":\"wait\",\"timeout\":60}"))
            .build();
    return http.sendAsync(request, HttpResponse.BodyHandlers.ofString())
        .thenApply(
            response -> new Popped(JSON.readTree(response.body()), System.currentTimeMillis()));
  }

  /** Each of them keeps a connection of its own. */
  private long connections() {
    if (application.getWebServer() instanceof TomcatWebServer tomcat
        && tomcat.getTomcat().getConnector().getProtocolHandler()
            instanceof AbstractProtocol<?> protocol) {
      return protocol.getConnectionCount();
    }
    throw new IllegalStateException("the web server is not Tomcat");
  }
}
