package io.punctual.systemtest;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/**
 * What a scheduler has of an application.
 *
 * @param scheduler its URL
 */
public record StoredJobs(String scheduler, String application) {

  /** Returns how many jobs of a task type wait for their due time. */
  public long waiting(String taskType) throws IOException {
    Http.Answer answer = Http.get(scheduler + "/api/v1/queues/" + application + "/" + taskType);
    return answer.status() == 200 ? answer.json().get("delayed").longValue() : 0;
  }

  /** Returns all jobs that wait, without what they carry. */
  public List<JsonNode> all() throws IOException {
    List<JsonNode> jobs = new ArrayList<>();
    String cursor = "";
    while (true) {
      JsonNode page =
          Http.get(
                  scheduler
                      + "/api/v1/jobs?state=delayed&limit=500&application="
                      + application
                      + cursor)
              .json();
      page.get("items").forEach(jobs::add);
      if (page.path("nextCursor").isNull() || page.path("nextCursor").isMissingNode()) {
        return jobs;
      }
      cursor =
          "&cursor="
              + URLEncoder.encode(page.get("nextCursor").stringValue(), StandardCharsets.UTF_8);
    }
  }

  /** Makes all jobs of a task type due, and takes them, with what they carry. */
  public List<JsonNode> pull(String taskType) throws IOException {
    String all = "{\"application\":\"%s\",\"taskType\":\"%s\",\"state\":\"delayed\",\"delay\":0%s}";
    String cursor = "";
    do {
      Http.Answer answer =
          Http.post(
              scheduler + "/api/v1/jobs:reschedule", all.formatted(application, taskType, cursor));
      if (answer.status() != 200) {
        throw new IllegalStateException(answer.body());
      }
      String next = answer.json().path("nextCursor").asString("");
      cursor = next.isEmpty() ? "" : ",\"cursor\":\"" + next + "\"";
    } while (!cursor.isEmpty());
    return claim(taskType);
  }

  /** Takes the jobs of a task type that are due, with what they carry. */
  public List<JsonNode> claim(String taskType) throws IOException {
    List<JsonNode> jobs = new ArrayList<>();
    String claim =
        "{\"application\":\"%s\",\"taskTypes\":[\"%s\"],\"max\":200}"
            .formatted(application, taskType);
    Http.Answer claimed = Http.post(scheduler + "/api/v1/claims", claim);
    while (claimed.status() == 200) {
      claimed.json().get("jobs").forEach(jobs::add);
      claimed = Http.post(scheduler + "/api/v1/claims", claim);
    }
    if (claimed.status() != 204) {
      throw new IllegalStateException(claimed.body());
    }
    return jobs;
  }

  /** Takes the jobs of a task type that are due, and acknowledges them. */
  public List<JsonNode> run(String taskType) throws IOException {
    List<JsonNode> jobs = claim(taskType);
    for (JsonNode job : jobs) {
      Http.Answer done =
          Http.post(scheduler + "/api/v1/claims/" + job.get("token").stringValue() + "/ack", "{}");
      if (done.status() != 200) {
        throw new IllegalStateException(done.body());
      }
    }
    return jobs;
  }
}
