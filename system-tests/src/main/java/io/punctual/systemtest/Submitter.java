package io.punctual.systemtest;

import io.punctual.systemtest.worker.WorkerApplication;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import tools.jackson.databind.JsonNode;

/** Submits jobs over HTTP and remembers what was acknowledged. */
public final class Submitter {

  private final String application;
  private final Map<String, Long> attempted = new ConcurrentHashMap<>();
  private final Map<String, Long> acknowledged = new ConcurrentHashMap<>();

  public Submitter(String application) {
    this.application = application;
  }

  /**
   * Submits jobs in batches.
   *
   * @param what the worker shall do, for instance {@code sleep 500}
   * @param dueFrom epoch ms of the first
   * @param apart ms between one due time and the next
   */
  public void submit(
      JavaProcess scheduler, String prefix, int count, String what, long dueFrom, double apart)
      throws IOException {
    List<String> jobs = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String id = prefix + i;
      long due = dueFrom + (long) (i * apart);
      attempted.put(id, due);
      jobs.add(
          """
          {"application":"%s","taskType":"%s","taskId":"%s","delayTime":%d,"params":"%s %s"}"""
              .formatted(application, WorkerApplication.TYPE, id, due, id, what));
      if (jobs.size() == 500 || i == count - 1) {
        send(scheduler, jobs);
        jobs.clear();
      }
    }
  }

  private void send(JavaProcess scheduler, List<String> jobs) throws IOException {
    Http.Answer answer =
        Http.post(
            scheduler.url() + "/api/v1/jobs/batch", "{\"jobs\":[" + String.join(",", jobs) + "]}");
    if (answer.status() != 200) {
      throw new IOException("batch refused: " + answer);
    }
    for (JsonNode result : answer.json().get("results")) {
      if (result.get("status").intValue() / 100 == 2) {
        String id = result.get("taskId").stringValue();
        acknowledged.put(id, result.get("delayTime").longValue());
      }
    }
  }

  /** Looks at a job. */
  public JsonNode find(JavaProcess scheduler, String id) throws IOException {
    return Http.get(
            scheduler.url()
                + "/api/v1/jobs/"
                + application
                + "/"
                + WorkerApplication.TYPE
                + "/"
                + id)
        .json();
  }

  /** Counts of the queue. */
  public JsonNode queue(JavaProcess scheduler) throws IOException {
    return Http.get(
            scheduler.url() + "/api/v1/queues/" + application + "/" + WorkerApplication.TYPE)
        .json();
  }

  /** Whether nothing waits, is worked on or dead. */
  public boolean drained(JavaProcess scheduler) throws IOException {
    JsonNode queue = queue(scheduler);
    return queue.get("delayed").intValue() == 0 && queue.get("reserved").intValue() == 0;
  }

  /** Ids and due times of what was tried. */
  public Map<String, Long> attempted() {
    return attempted;
  }

  /** Ids and due times of what was accepted. */
  public Map<String, Long> acknowledged() {
    return acknowledged;
  }
}
