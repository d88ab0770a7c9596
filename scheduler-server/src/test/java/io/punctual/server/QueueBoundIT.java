package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.ApiClient.Answer;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;

/** An application that makes a queue of each job is told to stop before it fills the store. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {"eureka.client.enabled=false", "punctual.max-queues=3"})
@Tag("full")
class QueueBoundIT extends SharedRedisTestBase {

  private static String job(String application, String type, String id) {
    return "{\"application\":\"%s\",\"taskType\":\"%s\",\"taskId\":\"%s\",\"delay\":\"1h\"}"
        .formatted(application, type, id);
  }

  private int submit(String application, String type, String id) {
    return api.post("/api/v1/jobs", job(application, type, id)).status();
  }

  @Test
  void aFurtherQueueIsRefusedAndAllOthersGoOn() {
    for (String type : new String[] {"a", "b", "c"}) {
      assertThat(submit("shop", type, "1")).isEqualTo(201);
    }
    Map<String, String> before = StoreDump.of(connections, prefix);

    Answer refused = api.post("/api/v1/jobs", job("shop", "d", "1"));
    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.at("/code")).isEqualTo("invalid");
    assertThat(refused.at("/errors/0/field")).isEqualTo("taskType");
    assertThat(refused.at("/detail")).contains("shop has 3 of them, which is the most");
    // Names of applications have no case.
    assertThat(submit("SHOP", "e", "1")).isEqualTo(400);
    Answer added =
        api.post(
            "/api/v1/command",
            "{\"command\":\"add\",\"application\":\"shop\",\"topic\":\"d\",\"id\":\"1\",\"delay\":1}");
    assertThat(added.status()).isEqualTo(400);
    assertThat(added.at("/error")).contains("which is the most");
    assertThat(StoreDump.of(connections, prefix)).isEqualTo(before);

    Answer batch =
        api.post(
            "/api/v1/jobs/batch",
            "{\"jobs\":[" + job("shop", "d", "2") + "," + job("shop", "a", "2") + "]}");
    assertThat(batch.at("/results/0/status")).isEqualTo("400");
    assertThat(batch.at("/results/1/status")).isEqualTo("201");
    assertThat(submit("shop", "b", "2")).isEqualTo(201);
    assertThat(submit("other", "d", "1")).isEqualTo(201);
  }
}
