package io.punctual.server.migrate;

import io.punctual.server.text.Printable;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Submits jobs to a scheduler, over HTTP, as any program does. */
final class Submissions {

  private static final Duration PATIENCE = Duration.ofSeconds(20);
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

  /** What became of a job. */
  enum Kind {
    STORED,
    /** It never will be: it is wrong. */
    REFUSED,
    /** The scheduler has no room for it now. */
    LATER
  }

  /**
   * What became of a job.
   *
   * @param why empty if it is stored
   */
  record Result(Kind kind, String why) {}

  /**
   * Submits jobs. A job that is there already stays as it is.
   *
   * @return for each job, in order
   */
  List<Result> submit(List<OldJob> jobs) throws UnavailableException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(batch)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body(jobs))));
    if (!token.isEmpty()) {
      request.header("Authorization", "Bearer " + token);
    }
    // The time limit of a request ends with the head of the answer.
    CompletableFuture<HttpResponse<String>> call =
        http.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString());
    HttpResponse<String> answer;
    try {
      answer = call.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      call.cancel(true);
      throw new UnavailableException(
          batch + " did not answer: " + (e.getCause() == null ? e : e.getCause()));
    }
    String said = "HTTP " + answer.statusCode() + ": " + Printable.of(answer.body());
    if (answer.statusCode() == 429 || answer.statusCode() == 503) {
      return Collections.nCopies(jobs.size(), new Result(Kind.LATER, said));
    } else if (answer.statusCode() != 200) {
      throw new UnavailableException(batch + " answered " + said);
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

  private List<Result> results(String body, int jobs) throws UnavailableException {
    JsonNode results;
    try {
      results = JSON.readTree(body).path("results");
    } catch (JacksonException e) {
      throw new UnavailableException(batch + " is no scheduler: it answered " + Printable.of(body));
    }
    if (results.size() != jobs) {
      throw new UnavailableException(batch + " is no scheduler: it answered " + Printable.of(body));
    }
    List<Result> all = new ArrayList<>();
    for (JsonNode result : results) {
      int status = result.path("status").asInt();
      String why =
          "HTTP "
              + status
              + ": "
              + Printable.of(result.path("problem").path("detail").asString(""));
      if (status == 200 || status == 201) {
        all.add(new Result(Kind.STORED, ""));
      } else if (status == 400 || status == 409 || status == 413) {
        all.add(new Result(Kind.REFUSED, why));
      } else {
        all.add(new Result(Kind.LATER, why));
      }
    }
    return all;
  }
}
