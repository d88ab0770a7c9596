package io.punctual.server;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.springframework.web.client.RestClient;
import tools.jackson.databind.JsonNode;

/** A Prometheus server that reads one scheduler each second and judges it by our alert rules. */
final class Prometheus implements AutoCloseable {

  private static final Pattern LISTENING = Pattern.compile("\"Listening on\" address=\\S+:(\\d+)");

  private final Process process;
  private final RestClient api;

  /**
   * Starts one; the program is that of the PATH.
   *
   * @param scheduler the port of the scheduler
   * @param directory for its files
   */
  Prometheus(int scheduler, Path directory) throws IOException {
    Path rules = Path.of("..", "deploy", "observability", "alerts.yml").toAbsolutePath();
    Path configuration =
        Files.writeString(
            directory.resolve("prometheus.yml"),
            """
            global: {scrape_interval: 1s, evaluation_interval: 1s}
            rule_files: ['%s']
            scrape_configs:
              - job_name: punctual
                metrics_path: /actuator/prometheus
                static_configs: [{targets: ['127.0.0.1:%d']}]
            """
                .formatted(rules.normalize(), scheduler));
    process =
        new ProcessBuilder(
                "prometheus",
                "--config.file=" + configuration,
                "--storage.tsdb.path=" + directory.resolve("data"),
                "--web.listen-address=127.0.0.1:0")
            .redirectErrorStream(true)
            .start();
    api = RestClient.create("http://127.0.0.1:" + port(process));
  }

  private static int port(Process process) throws IOException {
    BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
    StringBuilder said = new StringBuilder();
    String line;
    while ((line = output.readLine()) != null) {
      Matcher found = LISTENING.matcher(line);
      if (found.find()) {
        // It is read to its end, or the process would stand still once the pipe is full.
        Thread.ofVirtual().start(() -> output.lines().forEach(any -> {}));
        return Integer.parseInt(found.group(1));
      }
      said.append(line).append('\n');
    }
    throw new IOException("Prometheus did not start:\n" + said);
  }

  /** Returns what a query gives: how many series. */
  int series(String query) {
    return data("/api/v1/query?query={query}", query).get("result").size();
  }

  /**
   * Returns the names of the alerts whose condition holds, by application; those about a scheduler
   * as a whole by the empty name.
   */
  Map<String, Set<String>> alerts() {
    Map<String, Set<String>> alerts = new HashMap<>();
    for (JsonNode alert : data("/api/v1/alerts").get("alerts")) {
      alerts
          .computeIfAbsent(alert.at("/labels/application").asString(""), any -> new HashSet<>())
          .add(alert.at("/labels/alertname").asString());
    }
    return alerts;
  }

  private JsonNode data(String path, Object... values) {
    JsonNode answer = api.get().uri(path, values).retrieve().body(JsonNode.class);
    return Objects.requireNonNull(answer).get("data");
  }

  @Override
  public void close() {
    // It has nothing that is worth a clean end.
    process.destroyForcibly();
    process.onExit().join();
  }
}
