package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.ApiClient.Answer;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;

/** Makes one of each change whose answer names a durability, in a new application. */
final class EveryChange {

  private static final String JOBS = "/api/v1/jobs";

  private final ApiClient api;
  private final String application = "app-" + UUID.randomUUID().toString().substring(0, 8);
  private final String queue = "/api/v1/queues/" + application + "/t";
  private final String job = JOBS + "/" + application + "/t/a";
  private final Map<String, Answer> answers = new LinkedHashMap<>();

  private EveryChange(ApiClient api) {
    this.api = api;
  }

  /** Returns the answers by what was asked for, in that order. */
  static Map<String, Answer> answers(ApiClient api) {
    EveryChange changes = new EveryChange(api);
    changes.requeue();
    changes.job();
    changes.queue();
    changes.many();
    changes.commands();
    return changes.answers;
  }

  /** Asserts that all answers are successes that name this level. */
  static void assertReached(ApiClient api, String level) {
    assertThat(answers(api))
        .allSatisfy(
            (change, answer) -> {
              assertThat(answer.status()).as(answer.text()).isLessThan(300);
              assertThat(answer.header("Punctual-Durability")).isEqualTo(level);
            });
  }

  private void requeue() {
    post("submit of a job that is due", JOBS, json("dead", ",\"delay\":0"));
    reject();
    post("requeue", JOBS + "/" + application + "/t/dead/requeue", "");
    reject();
    post("requeue of many", JOBS + ":requeue", many("dead", ""));
  }

  private void reject() {
    String claim = "{\"application\":\"%s\",\"taskTypes\":[\"t\"],\"wait\":\"10s\"}";
    Answer claimed = api.post("/api/v1/claims", claim.formatted(application));
    String token = claimed.at("/jobs/0/token");
    assertThat(api.post("/api/v1/claims/" + token + "/reject", "").at("/outcome"))
        .isEqualTo("dead");
  }

  private void job() {
    String later = json("a", ",\"delay\":\"1h\"");
    post("submit", JOBS, later);
    post("submit that repeats", JOBS, later);
    post(
        "submit that replaces",
        JOBS + "?onConflict=replace",
        json("a", ",\"delay\":\"1h\",\"params\":\"2\""));
    assertThat(api.get(job).at("/params")).isEqualTo("2");
    call("move", "PATCH", job, "{\"delay\":\"2h\"}");
    call("revise", "PATCH", job, "{\"params\":\"3\"}");
    call("cancel", "DELETE", job, "");
    post("restore", job + "/restore", "");
    post("run now", job + "/run", "");
  }

  private void queue() {
    post("pause", queue + "/pause", "");
    call("limit", "PUT", queue + "/limits", "{\"concurrency\":10}");
    call("expiry", "PUT", queue + "/expiry", "{\"expired\":\"drop\"}");
    call("hours", "PUT", queue + "/hours", "{}");
    post("pause of the application", "/api/v1/applications/" + application + "/pause", "");
    post("resume of the application", "/api/v1/applications/" + application + "/resume", "");
  }

  private void many() {
    String jobs = "{\"jobs\":[" + json("b", ",\"delay\":\"1h\"") + "]}";
    post("submit of many", JOBS + "/batch", jobs);
    post("move of many", JOBS + ":reschedule", many("b", ",\"delay\":\"2h\""));
    post("cancel of many", JOBS + ":cancel", many("b", ""));
    post("purge of many", JOBS + ":purge", many("a", ""));
    post("resume", queue + "/resume", "");
  }

  private void commands() {
    post("add", "/api/v1/command", command("add", ",\"delay\":3600,\"TTR\":30,\"body\":\"b\""));
    post("delete", "/api/v1/command", command("delete", ""));
  }

  private String command(String command, String more) {
    return "{\"command\":\"%s\",\"application\":\"%s\",\"topic\":\"t\",\"id\":\"c\"%s}"
        .formatted(command, application, more);
  }

  private String json(String id, String more) {
    return "{\"application\":\"%s\",\"taskType\":\"t\",\"taskId\":\"%s\"%s}"
        .formatted(application, id, more);
  }

  private String many(String id, String more) {
    return "{\"application\":\"%s\",\"taskType\":\"t\",\"taskIds\":[\"%s\"]%s}"
        .formatted(application, id, more);
  }

  private void post(String change, String path, String body) {
    call(change, "POST", path, body);
  }

  private void call(String change, String method, String path, String body) {
    answers.put(change, api.call(method, path, "application/json", BodyPublishers.ofString(body)));
  }
}
