package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.ApiClient.Answer;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;

/** Debounce and singletons over HTTP, in the API and in the command protocol. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {"eureka.client.enabled=false", SharedRedisTestBase.ALONE + "=SubmitAgainApiIT"})
class SubmitAgainApiIT extends SharedRedisTestBase {

  private final String type = "t-" + UUID.randomUUID();

  private Answer submit(String query, String more) {
    return api.post(
        "/api/v1/jobs" + query,
        "{\"application\":\"shop\",\"taskType\":\"%s\",\"taskId\":\"key\"%s}"
            .formatted(type, more));
  }

  private Answer find() {
    return api.get("/api/v1/jobs/shop/" + type + "/key");
  }

  private Answer claim() {
    return api.post(
        "/api/v1/claims",
        "{\"application\":\"shop\",\"taskTypes\":[\"%s\"],\"wait\":\"20s\"}".formatted(type));
  }

  private void ack(Answer claimed) {
    assertThat(
            api.post("/api/v1/claims/" + claimed.at("/jobs/0/token") + "/ack", "").at("/outcome"))
        .isEqualTo("done");
  }

  @Test
  void triggersAreGatheredUntilTheBound() {
    String debounce = "?onConflict=debounce&quiet=1h&atMost=90m";
    Answer first = submit(debounce, ",\"params\":\"1\"");
    assertThat(first.status()).isEqualTo(201);
    Answer second = submit(debounce, ",\"params\":\"2\"");

    assertThat(second.status()).isEqualTo(200);
    assertThat(second.at("/outcome")).isEqualTo("merged");
    assertThat(Instant.parse(second.at("/dueAt")))
        .isBetween(
            Instant.parse(first.at("/dueAt")), Instant.parse(first.at("/dueAt")).plusSeconds(60));
    assertThat(find().at("/params")).isEqualTo("2");
    assertThat(find().at("/delayTime")).isEqualTo(second.at("/delayTime"));

    assertThat(submit(debounce + "&keep=first", ",\"params\":\"3\"").at("/outcome"))
        .isEqualTo("merged");
    assertThat(find().at("/params")).isEqualTo("2");
    // With a bound that is over by now, the job is due at once.
    submit("?onConflict=debounce&quiet=0&atMost=0", ",\"params\":\"4\"");
    Answer claimed = claim();
    assertThat(claimed.at("/jobs/0/params")).isEqualTo("4");
    ack(claimed);
    assertThat(submit(debounce, ",\"params\":\"4\"").status()).as("runs again").isEqualTo(201);
  }

  @Test
  void aTriggerThatMeetsTheJobRunningIsShownAndRunsAfterIt() {
    submit("?whileRunning=queue_one", ",\"delay\":0,\"params\":\"1\"");
    Answer claimed = claim();
    assertThat(find().body().at("/successor").isMissingNode()).isTrue();

    assertThat(submit("?whileRunning=queue_one", ",\"delay\":0,\"params\":\"2\"").at("/outcome"))
        .isEqualTo("merged");
    assertThat(submit("?whileRunning=drop", ",\"delay\":0,\"params\":\"3\"").at("/outcome"))
        .isEqualTo("merged");
    assertThat(find().at("/state")).isEqualTo("reserved");
    assertThat(Instant.parse(find().at("/successor/dueAt")))
        .isBefore(Instant.now().plus(Duration.ofMinutes(1)));
    ack(claimed);

    Answer successor = claim();
    assertThat(successor.at("/jobs/0/params")).isEqualTo("2");
    ack(successor);
    assertThat(find().at("/state")).isEqualTo("finished");
  }

  @Test
  void aCancelTakesWhatWaitsForTheEnd() {
    submit("?whileRunning=queue_one", ",\"delay\":0");
    Answer claimed = claim();
    submit("?whileRunning=queue_one", ",\"delay\":0");

    assertThat(api.delete("/api/v1/jobs/shop/" + type + "/key").status()).isEqualTo(409);
    assertThat(find().body().at("/successor").isMissingNode()).isTrue();
    ack(claimed);
    assertThat(find().at("/state")).isEqualTo("finished");
  }

  @Test
  void aBatchIsUnderOneRule() {
    String batch =
        "{\"jobs\":[%s,%s,%s]}".formatted(job("key", "1"), job("key", "2"), job("other", "3"));
    Answer answer = api.post("/api/v1/jobs/batch?onConflict=debounce&quiet=1h&atMost=2h", batch);

    assertThat(answer.at("/results/0/outcome")).isEqualTo("created");
    assertThat(answer.at("/results/1/outcome")).isEqualTo("merged");
    assertThat(answer.at("/results/2/outcome")).isEqualTo("created");
    assertThat(find().at("/params")).isEqualTo("2");
  }

  private String job(String id, String params) {
    return "{\"application\":\"shop\",\"taskType\":\"%s\",\"taskId\":\"%s\",\"params\":\"%s\"}"
        .formatted(type, id, params);
  }

  private Answer add(String more) {
    return api.post(
        "/api/v1/command",
        ("{\"command\":\"add\",\"application\":\"shop\",\"topic\":\"%s\",\"id\":\"key\",\"body\":\"x\""
                + "%s}")
            .formatted(type, more));
  }

  @Test
  void commandsSayItAsWell() {
    assertThat(add(",\"onConflict\":\"debounce\",\"quiet\":3600,\"atMost\":7200.5").status())
        .isEqualTo(200);
    assertThat(add(",\"whileRunning\":\"queue_one\",\"delay\":0").status()).isEqualTo(200);
    assertThat(add(",\"onConflict\":\"replace\",\"delay\":1800").status()).isEqualTo(200);
    assertThat(find().at("/version")).isEqualTo("3");
    Answer bad = add(",\"onConflict\":\"debounce\",\"quiet\":3,\"atMost\":1");
    assertThat(bad.status()).isEqualTo(400);
    assertThat(bad.at("/error")).contains("quiet must be at most atMost");
    assertThat(
            add(",\"onConflict\":\"debounce\",\"quiet\":1,\"atMost\":1,\"delay\":1").at("/error"))
        .contains("delay must not be given");
  }
}
