package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.DIRECTORY;
import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.punctual.redis.Ports;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The example with Spring Modulith: its events become jobs of a scheduler. */
@Tag("full")
class ModulithIT {

  private static final JsonMapper JSON = JsonMapper.builder().build();

  @Test
  void anEventBecomesOneJobAlsoIfTheSchedulerWasAwayAndTheApplicationWasKilled() throws Exception {
    try (JavaProcess scheduler = PROGRAMS.scheduler(REGISTRY, REDIS.port(), "modulith").start();
        JavaProcess shop = shop(scheduler).start()) {
      scheduler.awaitReady();
      shop.awaitPort();

      Instant placed = Instant.now();
      String readme =
          MarkdownPage.of("examples/modulith-shop/README.md")
              .blocks("A shop with Spring Modulith", "bash")
              .get(0);
      ExampleProgram.shell(
          DIRECTORY,
          Map.of(),
          readme
              .substring(readme.indexOf("curl "))
              .replace("http://localhost:8091/orders/1001/1800", shop.url() + "/orders/1001/1800"));
      Waiting.until("the event's publication is completed", () -> incomplete(shop) == 0);
      JsonNode job = job(scheduler, "1001");
      assertThat(job.get("state").stringValue()).isEqualTo("delayed");
      assertThat(JSON.readTree(job.get("params").stringValue()))
          .isEqualTo(JSON.readTree("{\"id\":\"1001\",\"amount\":1800}"));
      assertThat(Instant.parse(job.get("dueAt").stringValue()))
          .isCloseTo(placed.plus(Duration.ofMinutes(30)), within(1, ChronoUnit.MINUTES));

      scheduler.kill();
      assertThat(Http.put(shop.url() + "/orders/1002/5", "").status()).isEqualTo(200);
      shop.awaitLog("Leaving event publication uncompleted");
      assertThat(incomplete(shop)).isEqualTo(1);
      shop.kill();
      shop.start().awaitPort();
      assertThat(incomplete(shop)).isEqualTo(1);
      scheduler.start().awaitReady();
      Waiting.until("the event was resubmitted", () -> incomplete(shop) == 0);
      assertThat(job(scheduler, "1002").get("version").intValue()).isEqualTo(1);

      for (String order : List.of("1001", "1002")) {
        Http.Answer run = Http.post(jobs(scheduler) + order + "/run", "{}");
        assertThat(run.status()).as(run.body()).isEqualTo(200);
        Waiting.until(
            "order " + order + " is closed",
            () -> Http.get(shop.url() + "/orders/" + order).body().equals("closed"));
      }
      Waiting.until(
          "both jobs are done", () -> queue(scheduler).at("/counters/done").intValue() == 2);
      assertThat(queue(scheduler).get("dead").intValue()).isZero();
      assertThat(incomplete(shop)).isZero();
    }
  }

  private static JsonNode queue(JavaProcess scheduler) throws IOException {
    return Http.get(scheduler.url() + "/api/v1/queues/modulith-shop/order.close").json();
  }

  private static JsonNode job(JavaProcess scheduler, String id) throws IOException {
    Http.Answer answer = Http.get(jobs(scheduler) + id);
    assertThat(answer.status()).as(answer.body()).isEqualTo(200);
    return answer.json();
  }

  private static String jobs(JavaProcess scheduler) {
    return scheduler.url() + "/api/v1/jobs/modulith-shop/order.close/";
  }

  private static int incomplete(JavaProcess shop) throws IOException {
    return Integer.parseInt(Http.get(shop.url() + "/incomplete").body());
  }

  private static JavaProcess shop(JavaProcess scheduler) {
    Path target = ModuleDirectory.of("modulith-shop").resolve("target");
    int port = Ports.free();
    Path database = DIRECTORY.toAbsolutePath().resolve("modulith-shop");
    return PROGRAMS.foreign(
        Path.of(System.getProperty("java.home")),
        target,
        "modulith-shop",
        List.of(
            "-jar",
            "modulith-shop-" + System.getProperty("punctual.version") + ".jar",
            "--server.address=127.0.0.1",
            "--server.port=" + port,
            "--spring.datasource.url=jdbc:h2:file:" + database + ";WRITE_DELAY=0",
            "--spring.sql.init.mode=always",
            "--punctual.url=" + scheduler.url(),
            Programs.eureka(REGISTRY)),
        port);
  }
}
