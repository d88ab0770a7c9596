package io.punctual.server.migrate;

import io.punctual.server.text.Printable;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** Submits jobs to a scheduler. */
final class Submissions {

  private final SchedulerHttp scheduler;
  private final String application;
  private final String taskType;

  Submissions(SchedulerHttp scheduler, String application, String taskType) {
    this.scheduler = scheduler;
    this.application = application;
    this.taskType = taskType;
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
    SchedulerHttp.Answer answer = scheduler.call("POST", "/jobs/batch", body(jobs));
    if (answer.isLater()) {
      return Collections.nCopies(jobs.size(), new Result(Kind.LATER, answer.said()));
    } else if (answer.status() != 200) {
      throw new UnavailableException(answer.from() + " answered " + answer.said());
    }
    return results(answer, jobs.size());
  }

  /** Cancels a job; returns false if it has begun or ended. */
  boolean cancel(OldJob job) throws UnavailableException, InterruptedException {
    String path = "/jobs/" + application + "/" + taskType + "/" + job.id();
    return scheduler.call("DELETE", path, null).status() == 200;
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

  private static List<Result> results(SchedulerHttp.Answer answer, int jobs)
      throws UnavailableException {
    JsonNode results = answer.json().path("results");
    if (results.size() != jobs) {
      throw new UnavailableException(answer.isNone());
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
