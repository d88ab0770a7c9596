package io.punctual.client.pull;

import io.punctual.client.lease.RemoteLease;
import io.punctual.client.submit.SchedulerCalls;
import io.punctual.client.submit.SchedulerCalls.Answer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds the jobs that were fetched, and extends their leases. A job is held until a scheduler has
 * taken its result.
 */
final class HeldJobs implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(HeldJobs.class);
  private static final int EXTENDING = 8;

  /** How often a scheduler is asked whether jobs that run were cancelled. */
  private static final Duration CHECK = Duration.ofMillis(700);

  private static final int MOST_CHECKED = 200;

  private final SchedulerCalls calls;
  private final Duration lease;
  private final Map<String, Held> held = new HashMap<>();
  private final ScheduledThreadPoolExecutor heartbeat =
      new ScheduledThreadPoolExecutor(1, task -> daemon(task, "punctual-leases"));
  private final ScheduledThreadPoolExecutor checks =
      new ScheduledThreadPoolExecutor(1, task -> daemon(task, "punctual-checks"));
  private final ExecutorService extending =
      Executors.newFixedThreadPool(EXTENDING, task -> daemon(task, "punctual-extend"));

  /**
   * A job that this instance holds.
   *
   * @param since monotonic ns
   */
  private record Held(String taskId, long since, RemoteLease remote) {}

  /**
   * @param lease how long jobs are held unless they are kept, which happens in thirds of it
   */
  HeldJobs(SchedulerCalls calls, Duration lease) {
    this.calls = calls;
    this.lease = lease;
    long third = lease.toMillis() / 3;
    var unused =
        heartbeat.scheduleWithFixedDelay(this::extendAll, third, third, TimeUnit.MILLISECONDS);
    var unusedToo =
        checks.scheduleWithFixedDelay(
            this::checkAll, CHECK.toMillis(), CHECK.toMillis(), TimeUnit.MILLISECONDS);
  }

  private static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  /** Adds a job. */
  void add(String token, String taskId, RemoteLease remote) {
    synchronized (held) {
      held.put(token, new Held(taskId, System.nanoTime(), remote));
    }
  }

  /** Removes a job; false if it was not held. */
  boolean remove(String token) {
    synchronized (held) {
      boolean was = held.remove(token) != null;
      if (held.isEmpty()) {
        held.notifyAll();
      }
      return was;
    }
  }

  /** Returns how many jobs are held. */
  int size() {
    synchronized (held) {
      return held.size();
    }
  }

  /**
   * Waits until no job is held.
   *
   * @param deadline monotonic ns
   * @return whether none is
   */
  boolean awaitNone(long deadline) throws InterruptedException {
    synchronized (held) {
      long left = deadline - System.nanoTime();
      while (!held.isEmpty() && left > 0) {
        TimeUnit.NANOSECONDS.timedWait(held, left);
        left = deadline - System.nanoTime();
      }
      return held.isEmpty();
    }
  }

  /** Extends the leases of the jobs that have been held for a while; those of new jobs last. */
  private void extendAll() {
    try {
      long now = System.nanoTime();
      List<Callable<Boolean>> all = new ArrayList<>();
      synchronized (held) {
        held.forEach(
            (token, job) -> {
              if (now - job.since() > lease.toNanos() / 4) {
                all.add(() -> extend(token, job));
              }
            });
      }
      var unused = extending.invokeAll(all, lease.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      // Else this would be the last time, and each job that takes longer would run twice.
      log.error("Extending leases failed; trying again. Jobs whose leases run out run again", e);
    }
  }

  /** Asks once for all jobs that have run for a while; a short job costs nothing. */
  private void checkAll() {
    try {
      long now = System.nanoTime();
      Map<String, Held> running = new HashMap<>();
      synchronized (held) {
        held.forEach(
            (token, job) -> {
              if (now - job.since() > CHECK.toNanos() / 2) {
                running.put(token, job);
              }
            });
      }
      List<String> tokens = List.copyOf(running.keySet());
      for (int from = 0; from < tokens.size(); from += MOST_CHECKED) {
        check(tokens.subList(from, Math.min(tokens.size(), from + MOST_CHECKED)), running);
      }
    } catch (RuntimeException | Error e) {
      // What was cancelled is seen when its lease is extended.
      log.debug("Asking whether jobs were cancelled failed; retrying", e);
    }
  }

  private void check(List<String> tokens, Map<String, Held> running) {
    Answer answer = calls.call("POST", "/api/v1/claims:check", Map.of("tokens", tokens));
    answer.body().texts("cancelling").stream()
        .map(running::get)
        .filter(Objects::nonNull)
        .forEach(job -> job.remote().cancelled());
  }

  private boolean extend(String token, Held job) {
    try {
      Answer answer =
          calls.call(
              "POST", "/api/v1/claims/" + token + "/extend", Map.of("timeToRun", lease.toMillis()));
      // The job may have ended while the call was on its way.
      if (answer.status() == 409 && remove(token)) {
        log.warn(
            "This instance has lost job {}: {}. Its attempt is cancelled.",
            job.taskId(),
            answer.text("detail"));
        job.remote().lost();
      } else if (answer.status() == 200 && answer.body().is("cancelling")) {
        job.remote().cancelled();
      }
      return answer.status() == 200;
    } catch (RuntimeException e) {
      log.warn(
          "Extending the lease of job {} failed. Unless a later try succeeds, its attempt is"
              + " cancelled when the lease is over, and it runs again",
          job.taskId(),
          e);
      return false;
    }
  }

  /** Extends no more leases. */
  @Override
  public void close() {
    heartbeat.shutdownNow();
    checks.shutdownNow();
    extending.shutdownNow();
  }
}
