package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.test.redis.RedisExtension;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A line for what an operator must know, with its ids as fields, and none for what went well. */
@ExtendWith(OutputCaptureExtension.class)
@Isolated("reads what is printed")
class LogsIT {

  private static final JsonMapper JSON = new JsonMapper();

  @Test
  void aDeadLetterIsOneLineWithFieldsAndJobsThatGoWellAreNone(CapturedOutput output)
      throws Exception {
    String run = UUID.randomUUID().toString().substring(0, 8);
    try (StreamingWorker worker = new StreamingWorker();
        ConfigurableApplicationContext server = server(run, worker.port());
        ApiClient api =
            new ApiClient(
                Integer.parseInt(
                    server.getEnvironment().getRequiredProperty("local.server.port")))) {
      worker.on(
          "/callback",
          (request, out) -> {
            for (CallbackRequest.Job job : request.jobs()) {
              String outcome = CallbackResult.DONE;
              if (job.taskId().startsWith("never")) {
                outcome = CallbackResult.REJECT;
              } else if (job.taskId().startsWith("twice") && job.attempt() == 1) {
                outcome = CallbackResult.RETRY;
              }
              CallbackResult result =
                  new CallbackResult(
                      job.taskId(), job.incarnation(), outcome, 0L, "\u001b[31m", null);
              out.write((JSON.writeValueAsString(result) + "\n").getBytes(StandardCharsets.UTF_8));
            }
          });
      for (String id : List.of("well", "twice", "never")) {
        api.post(
            "/api/v1/jobs",
            """
            {"application":"logged","taskType":"order.close","taskId":"%s-%s","delay":0}"""
                .formatted(id, run));
      }
      for (String id : List.of("well", "twice")) {
        awaitState(api, id + "-" + run, "finished");
      }
      awaitState(api, "never-" + run, "dead");
    }

    List<JsonNode> about =
        output
            .getOut()
            .lines()
            .filter(line -> line.contains("-" + run))
            .map(JSON::readTree)
            .toList();
    assertThat(about).hasSize(1);
    JsonNode line = about.get(0);
    assertThat(line.at("/log/level").asString()).isEqualTo("WARN");
    assertThat(line.at("/punctual/application").asString()).isEqualTo("logged");
    assertThat(line.at("/punctual/task/type").asString()).isEqualTo("order.close");
    assertThat(line.at("/punctual/task/id").asString()).isEqualTo("never-" + run);
    assertThat(line.at("/punctual/instance").asString()).isEqualTo("logged-0");
    assertThat(line.at("/message").asString()).contains("dead letter");
  }

  private static ConfigurableApplicationContext server(String run, int worker) {
    String at = "--spring.cloud.discovery.client.simple.instances.logged[0].";
    return new SpringApplication(PunctualServerApplication.class)
        .run(
            "--server.port=0",
            "--eureka.client.enabled=false",
            "--logging.structured.format.console=ecs",
            "--spring.data.redis.host=" + RedisExtension.redis().host(),
            "--spring.data.redis.port=" + RedisExtension.redis().port(),
            "--punctual.key-prefix=logs-" + run,
            at + "uri=http://127.0.0.1:" + worker,
            at + "instance-id=logged-0",
            at + "metadata[punctual.task-types]=order.close",
            at + "metadata[punctual.callback-path]=/callback",
            at + "metadata[punctual.protocol]=batch",
            at + "metadata[punctual.concurrency]=10");
  }

  private static void awaitState(ApiClient api, String id, String state) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> api.get("/api/v1/jobs/logged/order.close/" + id).at("/state").equals(state));
  }
}
