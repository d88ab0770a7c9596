package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.ApiClient.Answer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;

/** What applications are told of losses. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = "eureka.client.enabled=false")
class LossJournalIT extends SharedRedisTestBase {

  private static final String LOSSES = "/api/v1/store/losses";

  @Test
  void aRequestToSendAgainIsSeenInTheNextAnswer() {
    Awaitility.await().until(() -> !api.get(LOSSES).at("/store").isEmpty());

    Answer asked = api.post(LOSSES + "/resend", "{\"since\":\"2026-11-23T09:30:00Z\"}");

    assertThat(asked.status()).isEqualTo(200);
    String newest = asked.at("/newest");
    Answer losses = api.get(LOSSES);
    assertThat(losses.at("/newest")).isEqualTo(newest);
    int last = losses.body().at("/losses").size() - 1;
    assertThat(losses.at("/losses/" + last + "/kind")).isEqualTo("requested");
    assertThat(losses.at("/losses/" + last + "/asOf")).isEqualTo("2026-11-23T09:30:00Z");
    assertThat(losses.at("/begunAt")).isEqualTo(api.get("/api/v1/store").at("/begunAt"));
    Answer found = api.get("/api/v1/jobs/shop/t/none");
    assertThat(found.status()).isEqualTo(404);
    assertThat(found.header("Punctual-Store")).isEqualTo(losses.at("/store") + ";" + newest);
  }

  @Test
  void aRequestWithoutATimeIsRefused() {
    Answer refused = api.post(LOSSES + "/resend", "{}");
    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.at("/detail")).contains("since");
  }
}
