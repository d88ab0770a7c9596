package io.punctual.benchmark.imports;

import io.punctual.redis.RedisServer;
import io.punctual.systemtest.Http;
import io.punctual.systemtest.JavaProcess;
import io.punctual.systemtest.Programs;
import io.punctual.systemtest.StoredJobs;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import tools.jackson.databind.JsonNode;

/** A scheduler to which jobs move, and the command that moves them. */
final class ImportSystem implements AutoCloseable {

  private final RedisServer redis = RedisServer.startTemporary();
  private final Programs programs;
  private final JavaProcess scheduler;

  ImportSystem() throws IOException {
    programs = new Programs(Files.createDirectories(Path.of("target", "imports")));
    scheduler =
        programs
            .scheduler(
                "http://127.0.0.1:1", redis.port(), "import-sql", "--eureka.client.enabled=false")
            .start()
            .awaitReady();
  }

  /** An application of its own. */
  StoredJobs application() {
    return new StoredJobs(scheduler.url(), "moved-" + UUID.randomUUID().toString().substring(0, 8));
  }

  /** Starts the command. */
  Process start(OldDatabase old, StoredJobs to, String library, String queue, String... more)
      throws IOException, SQLException {
    List<String> words =
        new ArrayList<>(
            List.of(
                "import-jobs",
                library,
                old.url(),
                queue,
                "--application=" + to.application(),
                "--task-type=moved"));
    if (Arrays.stream(more).noneMatch(word -> word.startsWith("--scheduler="))) {
      words.add("--scheduler=" + scheduler.url());
    }
    words.addAll(Arrays.asList(more));
    return programs.startCommandWith(
        List.of(old.driver()), List.of(), words.toArray(String[]::new));
  }

  /** Runs the command to its end, and returns what it wrote. */
  String run(OldDatabase old, StoredJobs to, String library, String queue, String... more)
      throws IOException, SQLException {
    Process process = start(old, to, library, queue, more);
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  /** A schedule in Punctual with its next runs; null if there is none. */
  JsonNode schedule(StoredJobs of, String id, int preview) throws IOException {
    Http.Answer answer =
        Http.get(
            scheduler.url()
                + "/api/v1/schedules/"
                + of.application()
                + "/moved/"
                + id
                + "?preview="
                + preview);
    return answer.status() == 200 ? answer.json() : null;
  }

  String url() {
    return scheduler.url();
  }

  @Override
  public void close() {
    scheduler.close();
    redis.close();
  }
}
