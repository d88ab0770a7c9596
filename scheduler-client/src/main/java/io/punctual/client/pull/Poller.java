package io.punctual.client.pull;

import io.punctual.SchedulerUnavailableException;
import io.punctual.client.json.JsonObject;
import io.punctual.client.lease.RemoteLease;
import io.punctual.client.run.JobRunner;
import io.punctual.client.submit.SchedulerCalls;
import io.punctual.client.submit.SchedulerCalls.Answer;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fetches jobs of some task types while there is capacity, and runs them. Each job takes one place
 * of the poller until its result was sent.
 */
final class Poller implements Runnable {

  private static final Logger log = LoggerFactory.getLogger(Poller.class);
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final Duration MARGIN = Duration.ofSeconds(10);
  private static final int MAX_JOBS = 200;
  private static final int MAX_TYPES = 32;
  private static final int ENDINGS = 5;

  private final Pull pull;
  private volatile List<String> types;
  private final PullCapacity room;
  private int turn;

  /**
   * What the pollers of an instance share.
   *
   * @param worker the name of this instance among all that claim
   * @param everywhere the places of all task types together
   * @param lease how long a job is held unless it is kept
   * @param stopped counted down when no more jobs are to be fetched
   */
  record Pull(
      String application,
      String worker,
      SchedulerCalls calls,
      JobRunner runner,
      HeldJobs held,
      PullCapacity everywhere,
      Duration lease,
      CountDownLatch stopped) {

    boolean goesOn() {
      return stopped.getCount() > 0;
    }
  }

  /**
   * @param places how many jobs of these types may be here at once
   */
  Poller(Pull pull, List<String> types, int places) {
    this.pull = pull;
    this.types = types;
    this.room = new PullCapacity(places);
  }

  PullCapacity room() {
    return room;
  }

  List<String> types() {
    return types;
  }

  /** Asks for no other task types from the next request on. Without any, the poller ends. */
  void keep(Set<String> left) {
    types = types.stream().filter(left::contains).toList();
  }

  @Override
  public void run() {
    int failures = 0;
    while (pull.goesOn() && !types.isEmpty()) {
      try {
        poll();
        failures = 0;
      } catch (InterruptedException e) {
        // The loop's condition says whether that was meant as an end.
        failures = 0;
      } catch (SchedulerUnavailableException e) {
        if (pull.goesOn() && failures++ == 0) {
          log.warn(
              "No scheduler answers: no jobs are fetched until one does. Retrying: {}",
              e.getMessage());
        }
        pause(failures);
      } catch (RuntimeException | Error e) {
        // Nothing but the stop ends it: the instance would look well and fetch nothing.
        log.error("Fetching jobs failed, retrying. Jobs wait and lose no attempt", e);
        pause(++failures);
      }
    }
  }

  private void pause(int failures) {
    try {
      // A scheduler that restarts is not asked in a tight loop.
      var unused =
          pull.stopped()
              .await(Math.min(1_000, 100L << Math.min(failures, 6)), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      // The loop looks whether that was meant as an end.
      return;
    }
  }

  /**
   * A job that this instance holds.
   *
   * @param remote its lease
   */
  private record Fetched(CallbackRequest.Job job, RemoteLease remote) {

    String token() {
      return Objects.requireNonNull(job.token());
    }
  }

  // Places without a job are given back here; those with one are given back when it ends.
  private void poll() throws InterruptedException {
    int free = room.take(MAX_JOBS);
    Deque<Fetched> jobs = new ArrayDeque<>();
    try {
      int everywhere = free == 0 ? 0 : pull.everywhere().await();
      if (everywhere == 0) {
        return;
      }
      for (JsonObject node : fetch(Math.min(free, everywhere))) {
        CallbackRequest.Job job = job(node);
        String token = job == null ? null : job.token();
        if (job == null || token == null) {
          continue;
        }
        RemoteLease remote = new RemoteLease(pull.calls(), token, pull.lease(), more -> {});
        jobs.add(new Fetched(job, remote));
        pull.held().add(token, job.taskId(), remote);
      }
      while (!jobs.isEmpty() && free > 0 && pull.goesOn() && pull.everywhere().tryTake()) {
        free--;
        start(jobs.remove());
      }
      // Last, since a call that is not answered takes long: the others run, and keep their leases.
      while (!jobs.isEmpty()) {
        giveBack(jobs.remove());
      }
    } finally {
      // Those that an error left here come back when their leases are over.
      jobs.forEach(left -> pull.held().remove(left.token()));
      room.give(free);
    }
  }

  private List<JsonObject> fetch(int max) {
    List<String> types = this.types;
    if (types.isEmpty()) {
      return List.of();
    }
    List<String> some = new ArrayList<>();
    for (int i = 0; i < Math.min(MAX_TYPES, types.size()); i++) {
      some.add(types.get((turn + i) % types.size()));
    }
    // No type is always the last one, and none is left out if one request cannot name them all.
    turn = (turn + (types.size() > MAX_TYPES ? MAX_TYPES : 1)) % types.size();
    Duration wait = types.size() > MAX_TYPES ? Duration.ofSeconds(1) : WAIT;
    Answer answer =
        pull.calls()
            .call(
                "POST",
                "/api/v1/claims",
                Map.of(
                    "application",
                    pull.application(),
                    "taskTypes",
                    some,
                    "max",
                    max,
                    "wait",
                    wait.toMillis(),
                    "timeToRun",
                    pull.lease().toMillis(),
                    "worker",
                    pull.worker()),
                wait.plus(MARGIN));
    if (answer.status() != 204 && answer.status() != 200) {
      throw new IllegalStateException(
          "a scheduler answered HTTP " + answer.status() + ": " + answer.text("detail"));
    }
    List<JsonObject> jobs = answer.body().objects("jobs");
    return jobs == null ? List.of() : jobs;
  }

  /** Reads a job; null if it cannot be read. Its lease runs out then. */
  private static CallbackRequest.@Nullable Job job(JsonObject node) {
    try {
      return new CallbackRequest.Job(
          node.text("taskId"),
          node.text("taskType"),
          node.text("incarnation"),
          Math.toIntExact(node.number("attempt")),
          node.number("version", 0),
          node.number("claimedAt"),
          node.number("dueTime"),
          node.has("lateSince") ? (Long) node.number("lateSince") : null,
          node.number("jobTimeToRun"),
          node.text("params"),
          new TreeMap<>(node.textsByName("headers")),
          node.text("token"));
    } catch (RuntimeException e) {
      log.error(
          "Job {} of {} cannot be read. It comes back when its lease is over. Use the same version of"
              + " scheduler and starter",
          node.text("taskId", "?"),
          node.text("taskType", "?"),
          e);
      return null;
    }
  }

  private void start(Fetched fetched) {
    CompletableFuture<CallbackResult> run;
    try {
      run = pull.runner().run(fetched.job(), fetched.remote());
    } catch (RuntimeException | Error e) {
      ended(fetched);
      throw e;
    }
    var unused =
        run.whenComplete(
            (result, error) -> {
              try {
                if (result != null) {
                  end(fetched, result);
                }
              } finally {
                ended(fetched);
              }
            });
  }

  private void ended(Fetched fetched) {
    pull.everywhere().give(1);
    room.give(1);
    pull.held().remove(fetched.token());
  }

  /** Releases a job that this instance has no place for: another instance may have one. */
  private void giveBack(Fetched fetched) {
    CallbackRequest.Job job = fetched.job();
    try {
      end(
          fetched,
          new CallbackResult(
              job.taskId(), job.incarnation(), CallbackResult.REFUSED, null, null, null));
    } finally {
      pull.held().remove(fetched.token());
    }
  }

  private void end(Fetched fetched, CallbackResult result) {
    if (result.outcome().equals(CallbackResult.DEFERRED)) {
      // Its lease lasts as long as it should already.
      return;
    }
    CallbackRequest.Job job = fetched.job();
    Map<String, Object> body = new HashMap<>();
    body.put("worker", pull.worker());
    if (result.error() != null) {
      body.put("error", result.error());
    }
    String how =
        switch (result.outcome()) {
          case CallbackResult.DONE -> "ack";
          case CallbackResult.REJECT -> "reject";
          case CallbackResult.REFUSED -> "release";
          default -> "nack";
        };
    if (how.equals("nack") && result.retryAfterMs() != null) {
      body.put("delay", result.retryAfterMs());
    }
    boolean plain = how.equals("ack") || how.equals("release");
    for (int i = 1; i <= ENDINGS; i++) {
      try {
        Answer answer =
            pull.calls()
                .call("POST", "/api/v1/claims/" + fetched.token() + "/" + how, plain ? null : body);
        if (answer.status() != 200) {
          log.warn(
              "A scheduler refused the end ({}) of job {} of {}, which may run again: {}",
              how,
              job.taskId(),
              job.taskType(),
              answer.text("detail"));
        }
        return;
      } catch (SchedulerUnavailableException e) {
        if (i == ENDINGS || Thread.currentThread().isInterrupted()) {
          log.warn(
              "No scheduler took the end ({}) of job {} of {}; it will run again",
              how,
              job.taskId(),
              job.taskType(),
              e);
          return;
        }
      }
    }
  }
}
