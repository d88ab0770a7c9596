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

  private static final int MAX_JOBS = 500;

  // A scheduler takes 16 MB of JSON, and a character may take six bytes there.
  private static final int MAX_CHARS = 2 << 20;

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
    CREATED,
    /** It was there before. */
    THERE,
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

  /** Returns how many of the first of these jobs fit in one call; at least one. */
  static int fitting(List<OldJob> jobs) {
    int chars = 0;
    for (int i = 0; i < Math.min(jobs.size(), MAX_JOBS); i++) {
      chars += jobs.get(i).params().length();
      if (i > 0 && chars > MAX_CHARS) {
        return i;
      }
    }
    return Math.min(jobs.size(), MAX_JOBS);
  }

  /** Returns whether there is a job with this id, or was one that ran a short while ago. */
  boolean has(String id) throws UnavailableException, InterruptedException {
    SchedulerHttp.Answer found = scheduler.call("GET", path(id), null);
    if (found.status() != 200 && found.status() != 404) {
      throw new UnavailableException(found.from() + " answered " + found.said());
    }
    return found.status() == 200 && !found.json().path("state").asString("").equals("cancelled");
  }

  /** Cancels a job that was created and not changed since; returns false if there is none. */
  boolean cancel(String id) throws UnavailableException, InterruptedException {
    SchedulerHttp.Answer found = scheduler.call("GET", path(id), null);
    return found.status() == 200
        && found.json().path("version").asLong(0) == 1
        && scheduler.call("DELETE", path(id), null, "If-Match", found.tag()).status() == 200;
  }

  private String path(String id) {
    return "/jobs/" + application + "/" + taskType + "/" + id;
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
      if (status == 201) {
        all.add(new Result(Kind.CREATED, ""));
      } else if (status == 200) {
        all.add(new Result(Kind.THERE, ""));
      } else if (status == 400 || status == 409 || status == 413) {
        all.add(new Result(Kind.REFUSED, why));
      } else {
        all.add(new Result(Kind.LATER, why));
      }
    }
    return all;
  }
}
