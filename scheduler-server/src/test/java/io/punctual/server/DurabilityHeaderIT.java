package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.ApiClient.Answer;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;

/** Each change says where it was when it was answered; here, on a Redis without replicas. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = "eureka.client.enabled=false")
class DurabilityHeaderIT extends SharedRedisTestBase {

  private static final String JOBS = "/api/v1/jobs";
  private static final String QUEUE = "/api/v1/queues/shop/t";

  private final String id = "d-" + UUID.randomUUID();
  private final String job = JOBS + "/shop/t/" + id;
  private final String body =
      "{\"application\":\"shop\",\"taskType\":\"t\",\"taskId\":\"" + id + "\",\"delay\":\"1h\"}";

  private String many(String more) {
    return "{\"application\":\"shop\",\"taskType\":\"t\",\"taskIds\":[\"" + id + "\"]" + more + "}";
  }

  private Answer command(String command, String more) {
    return api.post(
        "/api/v1/command",
        "{\"command\":\"%s\",\"topic\":\"t\",\"id\":\"c-%s\"%s}".formatted(command, id, more));
  }

  private Answer change(String method, String path, String content) {
    return api.send(
        path,
        request ->
            request
                .header("Content-Type", "application/json")
                .method(method, BodyPublishers.ofString(content)));
  }

  @Test
  void eachChangeNamesIt() {
    for (Answer answer :
        List.of(
            api.post(JOBS, body),
            api.post(JOBS, body),
            api.post(JOBS + "/batch", "{\"jobs\":[" + body + "]}"),
            change("PATCH", job, "{\"delay\":\"2h\"}"),
            change("DELETE", job, ""),
            api.post(JOBS, body),
            change("POST", job + "/run", ""),
            api.post(QUEUE + "/pause", ""),
            change("PUT", QUEUE + "/limits", "{\"concurrency\":10}"),
            api.post(JOBS + ":reschedule", many(",\"delay\":\"1h\"")),
            api.post(JOBS + ":purge", many("")),
            api.post(QUEUE + "/resume", ""),
            api.post(JOBS, body),
            api.post(JOBS + ":cancel", many("")),
            command("add", ",\"delay\":3600,\"TTR\":30,\"body\":\"b\""),
            command("delete", ""))) {
      assertThat(answer.status()).as(answer.text()).isLessThan(300);
      assertThat(answer.header("Punctual-Durability")).as(answer.text()).isEqualTo("redis");
    }
  }

  @Test
  void anAnswerThatChangedNothingNamesNone() {
    for (Answer answer :
        List.of(
            api.get(QUEUE),
            change("DELETE", job, ""),
            api.post(JOBS + ":cancel", many(",\"dryRun\":true")))) {
      assertThat(answer.header("Punctual-Durability")).isEmpty();
    }
  }
}
