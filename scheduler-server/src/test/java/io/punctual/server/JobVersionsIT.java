package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.ApiClient.Answer;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;

/** A change counts only for the version of the job that its caller has seen. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = "eureka.client.enabled=false")
class JobVersionsIT extends SharedRedisTestBase {

  private static final String JOBS = "/api/v1/jobs";

  private final String id = "v-" + UUID.randomUUID();
  private final String job = JOBS + "/shop/t/" + id;

  private Answer submit(String params, String more) {
    return api.post(
        JOBS + more,
        """
        {"application":"shop","taskType":"t","taskId":"%s","delay":"1h","params":"%s","retry":"never"}"""
            .formatted(id, params));
  }

  private Answer call(String method, String path, String ifMatch, String body) {
    return api.send(
        path,
        request ->
            request
                .header("If-Match", ifMatch)
                .header("Content-Type", "application/json")
                .method(method, BodyPublishers.ofString(body)));
  }

  private List<Answer> allChanges(String ifMatch) {
    return Stream.concat(
            allButCancel(ifMatch).stream(), Stream.of(call("DELETE", job, ifMatch, "")))
        .toList();
  }

  private List<Answer> allButCancel(String ifMatch) {
    return List.of(
        call("PATCH", job, ifMatch, "{\"delay\":\"2h\"}"),
        call("PATCH", job, ifMatch, "{\"params\":\"x\"}"),
        call("POST", job + "/run", ifMatch, ""),
        call("POST", job + "/requeue", ifMatch, ""));
  }

  private void assertRefused(String ifMatch) {
    assertRefused(ifMatch, this::allChanges);
  }

  private void assertRefused(String ifMatch, Function<String, List<Answer>> changes) {
    Answer before = api.get(job);
    for (Answer answer : changes.apply(ifMatch)) {
      assertThat(answer.status()).isEqualTo(412);
      assertThat(answer.at("/code")).isEqualTo("changed");
    }
    Answer after = api.get(job);
    assertThat(after.body()).isEqualTo(before.body());
    assertThat(after.header("ETag")).isEqualTo(before.header("ETag"));
  }

  @Test
  void aStaleVersionIsRefusedByEachCallAndChangesNothing() {
    Answer created = submit("1", "");
    String first = created.header("ETag");
    assertThat(created.at("/version")).isEqualTo("1");
    assertThat(first).matches("\"[^\"]+\\.1\"");
    assertThat(submit("1", "").header("ETag")).isEqualTo(first);
    assertThat(api.get(job).header("ETag")).isEqualTo(first);

    Answer moved = call("PATCH", job, first, "{\"delay\":\"2h\"}");
    assertThat(moved.status()).isEqualTo(200);
    assertThat(moved.at("/version")).isEqualTo("2");
    assertRefused(first);
    // Weak tags never match, nor does a list without the right one.
    assertRefused("W/" + moved.header("ETag"));
    assertRefused("\"x\", " + first);

    Answer revised = call("PATCH", job, moved.header("ETag"), "{\"params\":\"2\"}");
    assertThat(revised.at("/version")).isEqualTo("3");
    assertRefused(moved.header("ETag"));
    Answer replaced = submit("3", "?onConflict=replace");
    assertThat(replaced.at("/version")).isEqualTo("4");
    assertRefused(revised.header("ETag"));

    Answer cancelled = call("DELETE", job, "\"x\", " + replaced.header("ETag"), "");
    assertThat(cancelled.status()).isEqualTo(200);
    assertThat(cancelled.at("/version")).isEqualTo("5");
    assertRefused(replaced.header("ETag"), this::allButCancel);

    // Another job of that id begins with 1, and never matches what the first one was.
    Answer again = submit("1", "");
    assertThat(again.at("/version")).isEqualTo("1");
    assertThat(again.header("ETag")).isNotEqualTo(first);
    assertRefused(first);
    assertThat(call("DELETE", job, "*", "").status()).isEqualTo(200);
    // Nor does a cancel of the first one count as a cancel of this one.
    assertRefused(first);
  }

  @Test
  void aCancelThatIsRepeatedFindsWhatItDid() {
    String seen = submit("1", "").header("ETag");
    assertThat(call("DELETE", job, seen, "").at("/outcome")).isEqualTo("cancelled");

    for (String same : List.of(seen, "\"x\", \"x.1\", " + seen, "*")) {
      Answer again = call("DELETE", job, same, "");
      assertThat(again.status()).isEqualTo(200);
      assertThat(again.at("/outcome")).isEqualTo("cancelled");
    }
    for (String other : List.of("W/" + seen, "\"x.1\"", "x")) {
      assertRefused(other);
    }
  }

  @Test
  void aDeadLetterIsRequeuedInTheVersionThatWasSeen() {
    submit("1", "");
    Answer ran = api.post(job + "/run", "");
    assertThat(ran.at("/version")).isEqualTo("2");
    Answer claimed =
        api.post("/api/v1/claims", "{\"application\":\"shop\",\"taskTypes\":[\"t\"],\"max\":200}");
    var mine =
        claimed
            .body()
            .at("/jobs")
            .valueStream()
            .filter(each -> each.at("/taskId").asString().equals(id))
            .findFirst()
            .orElseThrow();
    assertThat(mine.at("/version").asLong()).isEqualTo(3);
    assertThat(api.get(job).at("/version")).isEqualTo("3");
    api.post("/api/v1/claims/" + mine.at("/token").asString() + "/nack", "");

    Answer dead = api.get(job);
    assertThat(dead.at("/state")).isEqualTo("dead");
    assertThat(dead.at("/version")).isEqualTo("4");
    assertRefused(ran.header("ETag"));
    Answer requeued = call("POST", job + "/requeue", dead.header("ETag"), "");
    assertThat(requeued.status()).isEqualTo(200);
    assertThat(requeued.at("/version")).isEqualTo("5");
    assertThat(requeued.header("ETag")).isEqualTo(api.get(job).header("ETag"));
  }
}
