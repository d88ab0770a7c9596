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

  private final String id = "d-" + UUID.randomUUID();
  private final String job = JOBS + "/shop/t/" + id;
  private final String body =
      "{\"application\":\"shop\",\"taskType\":\"t\",\"taskId\":\"" + id + "\",\"delay\":\"1h\"}";

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
            change("POST", job + "/run", ""))) {
      assertThat(answer.status()).isLessThan(300);
      assertThat(answer.header("Punctual-Durability")).isEqualTo("redis");
    }
  }
}
