package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.systemtest.worker.WorkerApplication;
import java.io.IOException;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** After an outage nothing starts that is too late, and everything else does, in its window. */
@Tag("full")
class TimeRulesIT {

  private static final int EACH = 100;

  @Test
  void afterAnOutageOfAllSchedulersNothingStartsTooLateOrOutsideOfItsWindow() throws Exception {
    Workload load = Workload.of("time-rules");
    String application = load.application();
    try (JavaProcess first = PROGRAMS.scheduler(REGISTRY, REDIS.port(), application).start();
        JavaProcess second = PROGRAMS.scheduler(REGISTRY, REDIS.port(), application).start()) {
      first.awaitReady();
      second.awaitReady();
      long last = System.currentTimeMillis() + 5_000;
      LocalTime now = LocalTime.now(ZoneOffset.UTC).truncatedTo(ChronoUnit.MINUTES);
      String open = now.minusHours(1) + "-" + now.plusHours(2);
      String closed = now.plusHours(2) + "-" + now.plusHours(3);
      submit(
          first, application, "late-", "\"notAfter\":\"%s\"".formatted(Instant.ofEpochMilli(last)));
      submit(second, application, "in-time-", "\"expiresIn\":\"1h\"");
      submit(first, application, "open-", "\"window\":\"%s\"".formatted(open));
      submit(second, application, "closed-", "\"window\":\"%s\"".formatted(closed));

      load.fault(
          "all schedulers are killed, and started again when it is too late",
          () -> {
            first.kill();
            second.kill();
            Waiting.until("it is too late", () -> System.currentTimeMillis() > last + 500);
            first.start().awaitReady();
            second.start().awaitReady();
          });

      try (JavaProcess worker = load.worker(REGISTRY).start()) {
        worker.awaitReady();
        Waiting.until(
            "all others have run",
            () -> load.begun("in-time-").size() == EACH && load.begun("open-").size() == EACH);
        Waiting.until("what is too late is dead", () -> queue(first, application, "dead") == EACH);
        assertThat(load.begun("late-")).isEmpty();
        assertThat(load.begun("closed-")).isEmpty();
        assertThat(queue(second, application, "delayed")).isEqualTo(EACH);
        JsonNode late =
            Http.get(
                    first.url()
                        + "/api/v1/jobs/"
                        + application
                        + "/"
                        + WorkerApplication.TYPE
                        + "/late-7")
                .json();
        assertThat(late.get("reason").stringValue()).isEqualTo("expired");
        assertThat(late.get("attempts").get("counted").intValue()).isZero();
      }
    }
  }

  private static void submit(JavaProcess scheduler, String application, String prefix, String rule)
      throws IOException {
    List<String> jobs = new ArrayList<>();
    for (int i = 0; i < EACH; i++) {
      jobs.add(
          """
          {"application":"%s","taskType":"%s","taskId":"%s","delay":0,"params":"%s record",%s}\
          """
              .formatted(application, WorkerApplication.TYPE, prefix + i, prefix + i, rule));
    }
    Http.Answer answer =
        Http.post(
            scheduler.url() + "/api/v1/jobs/batch", "{\"jobs\":[" + String.join(",", jobs) + "]}");
    for (JsonNode result : answer.json().get("results")) {
      assertThat(result.get("status").intValue()).isEqualTo(201);
    }
  }

  private static long queue(JavaProcess scheduler, String application, String count)
      throws IOException {
    return Http.get(
            scheduler.url() + "/api/v1/queues/" + application + "/" + WorkerApplication.TYPE)
        .json()
        .get(count)
        .longValue();
  }
}
