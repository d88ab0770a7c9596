package io.punctual.systemtest;

import io.punctual.systemtest.worker.WorkerApplication;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Submits jobs of one application over HTTP and writes down what was tried and acknowledged. */
public final class Submitter {

  private static final int BATCH = 500;

  private final String application;
  private final String type;
  private final Map<String, Long> attempted = new ConcurrentHashMap<>();
  private final Set<String> acknowledged = ConcurrentHashMap.newKeySet();
  private final Set<String> settled = ConcurrentHashMap.newKeySet();
  private final Map<String, Duration> timesToRun = new ConcurrentHashMap<>();
  private volatile @Nullable Duration timeToRun;
  private volatile String retry = "default";

  public Submitter(String application) {
    this(application, WorkerApplication.TYPE);
  }

  public Submitter(String application, String type) {
    this.application = application;
    this.type = type;
  }

  /** How long the jobs that are submitted from now on may run; else what the scheduler says. */
  public void mayRunFor(Duration limit) {
    timeToRun = limit;
  }

  /** The retry policy of jobs that are submitted in batches from now on. */
  public void retry(String policy) {
    retry = policy;
  }

  /** The due time with which a job was submitted, epoch ms. */
  public long dueOf(String id) {
    return Objects.requireNonNull(attempted.get(id), id);
  }

  /**
   * Submits jobs in batches.
   *
   * @param what the worker shall do, for instance {@code sleep 500}
   * @param dueFrom epoch ms of the first
   * @param apart ms between one due time and the next
   * @throws IOException if a batch was not answered, or refused
   */
  public void submit(
      JavaProcess scheduler, String prefix, int count, String what, long dueFrom, double apart)
      throws IOException {
    List<String> jobs = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      jobs.add(job(prefix + i, what, dueFrom + (long) (i * apart), retry));
      if (jobs.size() == BATCH || i == count - 1) {
        sendBatch(scheduler, jobs);
        jobs.clear();
      }
    }
  }

  /**
   * Submits one job.
   *
   * @return whether it was acknowledged; if not, it may be stored or not
   */
  public boolean submitOne(JavaProcess scheduler, String id, String what, long due) {
    return submitOne(scheduler, id, what, due, "default");
  }

  /**
   * Submits one job with a retry policy of its own.
   *
   * @return whether it was acknowledged; if not, it may be stored or not
   */
  public boolean submitOne(JavaProcess scheduler, String id, String what, long due, String retry) {
    return submitOne(scheduler.url(), id, what, due, retry);
  }

  /**
   * Submits one job to whom that address leads.
   *
   * @return whether it was acknowledged; if not, it may be stored or not
   */
  boolean submitOne(String scheduler, String id, String what, long due, String retry) {
    try {
      String job = job(id, what, due, retry);
      int status = Http.post(scheduler + "/api/v1/jobs", job).status();
      if (status == 200 || status == 201) {
        acknowledged.add(id);
        return true;
      }
      return false;
    } catch (IOException e) {
      return false;
    }
  }

  private String job(String id, String what, long due, String retry) {
    attempted.put(id, due);
    Duration limit = timeToRun;
    if (limit != null) {
      timesToRun.put(id, limit);
    }
    return """
    {"application":"%s","taskType":"%s","taskId":"%s","delayTime":%d,"params":"%s %s",\
    "retry":"%s"%s}\
    """
        .formatted(
            application,
            type,
            id,
            due,
            id,
            what,
            retry,
            limit == null ? "" : ",\"timeToRun\":" + limit.toMillis());
  }

  private void sendBatch(JavaProcess scheduler, List<String> jobs) throws IOException {
    Http.Answer answer =
        Http.post(
            scheduler.url() + "/api/v1/jobs/batch", "{\"jobs\":[" + String.join(",", jobs) + "]}");
    if (answer.status() != 200) {
      throw new IOException("batch refused: " + answer);
    }
    for (JsonNode result : answer.json().get("results")) {
      if (result.get("status").intValue() / 100 == 2) {
        acknowledged.add(result.get("taskId").stringValue());
      }
    }
  }

  /** Looks at a job. */
  public JsonNode find(JavaProcess scheduler, String id) throws IOException {
    return Http.get(address(scheduler, id)).json();
  }

  /** Cancels a job; answers whether that was in time. */
  public boolean cancel(JavaProcess scheduler, String id) throws IOException {
    boolean cancelled = Http.delete(address(scheduler, id)).status() == 200;
    if (cancelled) {
      settled.add(id);
    }
    return cancelled;
  }

  /** Moves a job; answers whether that was in time. */
  public boolean move(JavaProcess scheduler, String id, long due) throws IOException {
    boolean moved =
        Http.patch(address(scheduler, id), "{\"delayTime\":" + due + "}").status() == 200;
    if (moved) {
      attempted.put(id, due);
    }
    return moved;
  }

  /** Undoes a cancel. */
  public Http.Answer restore(JavaProcess scheduler, String id) throws IOException {
    Http.Answer restored = Http.post(address(scheduler, id) + "/restore", "");
    if (restored.status() == 200) {
      settled.remove(id);
    }
    return restored;
  }

  /** Asks for a dead letter to be run again. */
  public Http.Answer requeue(JavaProcess scheduler, String id) throws IOException {
    return Http.post(address(scheduler, id) + "/requeue", "");
  }

  /** Counts of the queue. */
  public JsonNode queue(JavaProcess scheduler) throws IOException {
    return Http.get(scheduler.url() + "/api/v1/queues/" + application + "/" + type).json();
  }

  /** Whether nothing waits or is worked on. */
  public boolean drained(JavaProcess scheduler) throws IOException {
    JsonNode queue = queue(scheduler);
    return queue.get("delayed").intValue() == 0 && queue.get("reserved").intValue() == 0;
  }

  /**
   * Ids of the jobs that a scheduler has a lease on. They are read by the page, since leases run on
   * meanwhile.
   */
  public Set<String> heldBy(JavaProcess holder, JavaProcess asked) throws IOException {
    Set<String> held = new TreeSet<>();
    String first =
        "%s/api/v1/jobs?application=%s&taskType=%s&state=reserved&limit=500"
            .formatted(asked.url(), application, type);
    String page = first;
    while (true) {
      JsonNode jobs = Http.get(page).json();
      for (JsonNode job : jobs.get("items")) {
        // A lease names its owner as host, port and start.
        if (job.path("lease").path("owner").asString("").contains(":" + holder.port() + ":")) {
          held.add(job.get("taskId").stringValue());
        }
      }
      JsonNode next = jobs.get("nextCursor");
      if (next.isNull()) {
        return held;
      }
      page = first + "&cursor=" + URLEncoder.encode(next.stringValue(), StandardCharsets.UTF_8);
    }
  }

  /** Takes over what another one saw, so that both are accounted for together. */
  public void adopt(Submitter other) {
    attempted.putAll(other.attempted);
    acknowledged.addAll(other.acknowledged);
    settled.addAll(other.settled);
    timesToRun.putAll(other.timesToRun);
  }

  /** Returns the ids of all jobs that were sent so far, answered or not. */
  public Set<String> ids() {
    return Set.copyOf(attempted.keySet());
  }

  /** What was seen so far. */
  public History history() {
    return new History(attempted, acknowledged, settled, timesToRun);
  }

  private String address(JavaProcess scheduler, String id) {
    return scheduler.url() + "/api/v1/jobs/" + application + "/" + type + "/" + id;
  }
}
