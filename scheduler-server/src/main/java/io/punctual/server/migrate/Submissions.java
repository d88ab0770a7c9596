package io.punctual.server.migrate;

import io.punctual.server.text.Printable;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Submits jobs to a scheduler, over HTTP, as any program does. */
final class Submissions {

  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final JsonMapper JSON = new JsonMapper();

  private final HttpClient http = HttpClient.newBuilder().connectTimeout(PATIENCE).build();
  private final URI batch;
  private final String token;
  private final String application;
  private final String taskType;

  /**
   * @param scheduler its base URL
   * @param token of the application; empty for none
   */
  Submissions(URI scheduler, String token, String application, String taskType) {
    this.batch = URI.create(scheduler.toString().replaceFirst("/+$", "") + "/api/v1/jobs/batch");
    this.token = token;
    this.application = application;
    this.taskType = taskType;
  }

  /** Whether the jobs were stored is not known: submit the same jobs again. */
  static final class UnavailableException extends Exception {
    private static final long serialVersionUID = 1L;

    UnavailableException(String message) {
      super(message);
    }
  }

  /**
   * Submits jobs. A job that is there already stays as it is.
   *
   * @return for each job why it was refused for good; empty where it is stored
   */
  List<String> submit(List<OldJob> jobs) throws UnavailableException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(batch)
            .timeout(PATIENCE)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body(jobs))));
    if (!token.isEmpty()) {
      request.header("Authorization", "Bearer " + token);
    }
    HttpResponse<String> answer;
    try {
      answer = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw new UnavailableException(batch + " did not answer: " + e);
    }
    if (answer.statusCode() != 200) {
      throw new UnavailableException(
          batch + " answered HTTP " + answer.statusCode() + ": " + Printable.of(answer.body()));
    }
    return results(answer.body(), jobs.size());
  }

  private Map<String, Object> body(List<OldJob> jobs) {
    List<Map<String, Object>> all = new ArrayList<>();
    for (OldJob job : jobs) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("application", application);
      one.put("taskType", taskType);
      one.put("taskId", job.id());
      one.put("dueAt", Instant.ofEpochMilli(job.dueAt()).toString());
      one.put("params", job.params());
      one.put("headers", job.headers());
      all.add(one);
    }
    return Map.of("jobs", all);
  }

  private List<String> results(String body, int jobs) throws UnavailableException {
    JsonNode results;
    try {
      results = JSON.readTree(body).path("results");
    } catch (JacksonException e) {
      throw new UnavailableException(batch + " is no scheduler: it answered " + Printable.of(body));
    }
    if (results.size() != jobs) {
      throw new UnavailableException(batch + " is no scheduler: it answered " + Printable.of(body));
    }
    List<String> refusals = new ArrayList<>();
    for (JsonNode result : results) {
      int status = result.path("status").asInt();
      String detail = Printable.of(result.path("problem").path("detail").asString(""));
      if (status == 200 || status == 201) {
        refusals.add("");
      } else if (status == 400 || status == 409 || status == 413) {
        refusals.add(detail.isEmpty() ? "HTTP " + status : detail);
      } else {
        throw new UnavailableException(
            batch + " answered for a job HTTP " + status + ": " + detail);
      }
    }
    return refusals;
  }
}
