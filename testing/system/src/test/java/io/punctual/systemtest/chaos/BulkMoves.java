package io.punctual.systemtest.chaos;

import io.punctual.systemtest.History;
import io.punctual.systemtest.Http;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import tools.jackson.databind.JsonNode;

/**
 * Jobs that are due in an hour, and are then moved together, page by page, to a due time that is
 * near, while other things break. What one scheduler does not answer, another one is asked.
 */
final class BulkMoves implements AutoCloseable {

  /** Of the jobs' ids. */
  static final String PREFIX = "bulk-";

  private static final int JOBS = 1_200;
  private static final int BATCH = 200;
  // Seven would do, were nothing else broken.
  private static final int MOST_PAGES = 100;
  // For longer than anything is broken.
  private static final int TRIES = 300;
  private static final Duration LATER = Duration.ofHours(1);
  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final Duration SOON = Duration.ofSeconds(1);

  private final String application;
  private final String type;
  private final List<String> schedulers;
  private final Map<String, Long> due = new ConcurrentHashMap<>();
  private final Set<String> acknowledged = ConcurrentHashMap.newKeySet();
  private final ExecutorService thread = Executors.newSingleThreadExecutor();
  private final List<Future<?>> begun = new CopyOnWriteArrayList<>();
  private int calls;

  /**
   * @param schedulers their addresses
   */
  BulkMoves(String application, String type, List<String> schedulers) {
    this.application = application;
    this.type = type;
    this.schedulers = schedulers;
  }

  /** Begins to submit more than a thousand jobs, and to move all that wait. */
  void begin() {
    begun.add(thread.submit(this::submitAndMove));
  }

  /** Waits until all that was begun has ended; fails if it failed. */
  void awaitEnd() {
    for (Future<?> moves : begun) {
      try {
        moves.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      } catch (ExecutionException | TimeoutException e) {
        throw new AssertionError("jobs that are moved together", e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
    }
  }

  private synchronized void submitAndMove() {
    int first = due.size();
    long later = System.currentTimeMillis() + LATER.toMillis();
    for (int from = first; from < first + JOBS; from += BATCH) {
      List<String> jobs = new ArrayList<>();
      for (int i = from; i < from + BATCH; i++) {
        String id = PREFIX + i;
        due.put(id, later);
        jobs.add(
            "{\"application\":\"%s\",\"taskType\":\"%s\",\"taskId\":\"%s\",\"delayTime\":%d,\"params\":\"%s record\"}"
                .formatted(application, type, id, later, id));
      }
      submit(jobs);
    }
    move(first, SOON);
  }

  private void submit(List<String> jobs) {
    JsonNode answer = call("/api/v1/jobs/batch", "{\"jobs\":[" + String.join(",", jobs) + "]}");
    for (JsonNode result : answer.path("results")) {
      if (result.get("status").intValue() / 100 == 2) {
        acknowledged.add(result.get("taskId").stringValue());
      }
    }
  }

  /** Moves all jobs that wait, those from that number on for the first time. */
  private void move(int first, Duration delay) {
    long soon = System.currentTimeMillis() + delay.toMillis();
    for (int i = first; i < due.size(); i++) {
      due.put(PREFIX + i, soon);
    }
    String cursor = "";
    for (int pages = 0; pages < MOST_PAGES; pages++) {
      JsonNode page =
          call(
              "/api/v1/jobs:reschedule",
              "{\"application\":\"%s\",\"taskType\":\"%s\",\"delayTime\":%d,\"limit\":%d%s}"
                  .formatted(application, type, soon, BATCH, cursor));
      if (!page.path("nextCursor").isString()) {
        return;
      }
      cursor = ",\"cursor\":\"" + page.get("nextCursor").stringValue() + "\"";
    }
    throw new IllegalStateException("moving " + JOBS + " jobs does not end");
  }

  /** Asks one scheduler after the other; the last answer, be it no clear one. */
  private JsonNode call(String path, String body) {
    String last = "";
    for (int i = 0; i < TRIES; i++) {
      try {
        Http.Answer answer = Http.post(schedulers.get(calls++ % schedulers.size()) + path, body);
        if (answer.status() == 200) {
          return answer.json();
        }
        last = answer.toString();
        if (answer.status() < 500 && answer.status() != 429) {
          throw new IllegalStateException(path + ": " + answer);
        }
        ChaosSystem.pause();
      } catch (IOException e) {
        last = e.toString();
        ChaosSystem.pause();
      }
    }
    throw new IllegalStateException(path + " gets no answer: " + last);
  }

  /** Moves what a fault has left where it was; answers whether nothing is left of all jobs. */
  synchronized boolean drained(String scheduler) throws IOException {
    if (due.isEmpty()) {
      return true;
    }
    JsonNode queue = Http.get(scheduler + "/api/v1/queues/" + application + "/" + type).json();
    if (queue.get("delayed").intValue() > 0) {
      move(due.size(), Duration.ZERO);
    }
    return queue.get("delayed").intValue() == 0 && queue.get("reserved").intValue() == 0;
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }

  /** What was seen so far. */
  History history() {
    return new History(due, acknowledged, Set.of(), Map.of());
  }
}
