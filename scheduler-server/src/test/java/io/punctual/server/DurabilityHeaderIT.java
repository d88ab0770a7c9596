package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.ApiClient.Answer;
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

  @Test
  void eachChangeNamesIt() {
    EveryChange.assertReached(api, "redis");
  }

  @Test
  void anAnswerThatChangedNothingNamesNone() {
    String job =
        "{\"application\":\"shop\",\"taskType\":\"t\",\"taskId\":\"%s\",\"delay\":\"1h\"}"
            .formatted(id);
    assertThat(api.post(JOBS, job).status()).isEqualTo(201);
    String dryRun =
        "{\"application\":\"shop\",\"taskType\":\"t\",\"taskIds\":[\"%s\"],\"dryRun\":true}"
            .formatted(id);
    for (Answer answer :
        List.of(
            api.get(QUEUE),
            api.delete(JOBS + "/shop/t/unknown-" + id),
            api.post(JOBS + ":cancel", dryRun))) {
      assertThat(answer.header("Punctual-Durability")).isEmpty();
    }
  }
}
