package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.DIRECTORY;
import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.Ports;
import io.punctual.redis.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;
import tools.jackson.databind.JsonNode;

/** Does what docs/backup.md says, in a shell; directories, ports and services are other ones. */
@Tag("full")
class BackupPageIT {

  private final int port = Ports.free();
  private final Map<String, String> places = new LinkedHashMap<>();

  @Test
  void aCopyIsRestoredAndTheLossIsReportedAndAcknowledged() throws Exception {
    MarkdownPage page = MarkdownPage.of("docs/backup.md");
    Path data = Files.createDirectories(DIRECTORY.resolve("restored").toAbsolutePath());
    Path copies = Files.createDirectories(DIRECTORY.resolve("copies").toAbsolutePath());
    places.put("sudo systemctl", ": systemctl");
    places.put("sudo chown", ": chown");
    places.put("sudo -u redis ", "");
    places.put("sudo ", "");
    places.put("-u \"alice:$ALICE_PASSWORD\" ", "");
    places.put("/var/lib/redis", data.toString());
    places.put("/backup/", copies + "/");
    places.put("6380", Integer.toString(Ports.free()));

    try (RedisServer redis = RedisServer.start(port, data, "--appendonly", "yes");
        JavaProcess scheduler = PROGRAMS.scheduler(REGISTRY, port, "backup").start()) {
      scheduler.awaitReady();
      places.put("http://scheduler-1.example:8080", scheduler.url());
      submit(scheduler, "before");
      shell(page, "Back up and restore");
      long copied = looks();
      submit(scheduler, "after");
      // The scheduler compares Redis with its last look, once a second.
      Waiting.until("the scheduler has looked again", () -> looks() > copied);

      redis.stop();
      shell(page, "Restore");
      redis.start();

      Waiting.until("the loss is noticed", () -> losses(scheduler).contains("older"));
      assertThat(health(scheduler)).isEqualTo("DOWN");
      assertThat(Http.get(job(scheduler, "before")).status()).isEqualTo(200);
      assertThat(Http.get(job(scheduler, "after")).status()).isEqualTo(404);

      shell(page, "After the restore");
      assertThat(losses(scheduler)).contains("requested");
      Waiting.until("the loss is acknowledged", () -> !health(scheduler).equals("DOWN"));
    }
  }

  private static void submit(JavaProcess scheduler, String id) throws IOException {
    assertThat(
            Http.post(
                    scheduler.url() + "/api/v1/jobs",
                    """
                    {"application": "backup", "taskType": "job", "taskId": "%s", "delay": "1h"}
                    """
                        .formatted(id))
                .status())
        .isEqualTo(201);
  }

  /** How many times a scheduler has compared Redis with its last look. */
  private long looks() {
    try (Jedis client = new Jedis("127.0.0.1", port)) {
      return Long.parseLong(client.hget("backup:epoch", "sequence"));
    }
  }

  private static String job(JavaProcess scheduler, String id) {
    return scheduler.url() + "/api/v1/jobs/backup/job/" + id;
  }

  private static String health(JavaProcess scheduler) throws IOException {
    return Http.get(scheduler.url() + "/actuator/health")
        .json()
        .at("/components/store/status")
        .asString("");
  }

  private static List<String> losses(JavaProcess scheduler) throws IOException {
    List<String> kinds = new ArrayList<>();
    for (JsonNode loss : Http.get(scheduler.url() + "/api/v1/store/losses").json().at("/losses")) {
      kinds.add(loss.at("/kind").asString(""));
    }
    return kinds;
  }

  private void shell(MarkdownPage page, String heading) throws IOException {
    String block = page.blocks(heading, "bash").get(0);
    for (Map.Entry<String, String> place : places.entrySet()) {
      block = block.replace(place.getKey(), place.getValue());
    }
    // The last port counts.
    String client = "redis-cli() { command redis-cli -p %d \"$@\"; }\n".formatted(port);
    ExampleProgram.run(DIRECTORY, Map.of(), "bash", "-euc", client + block);
  }
}
