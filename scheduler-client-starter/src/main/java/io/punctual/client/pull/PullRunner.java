package io.punctual.client.pull;

import io.punctual.SchedulerUnavailableException;
import io.punctual.client.ClientIdentity;
import io.punctual.client.callback.JobRunner;
import io.punctual.client.lease.RemoteLease;
import io.punctual.client.submit.SchedulerCalls;
import io.punctual.client.submit.SchedulerCalls.Answer;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import io.punctual.worker.TaskWorkers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import tools.jackson.databind.JsonNode;

/**
 * Feeds the workers with jobs that it fetches. One request waits at a scheduler at any time, for
 * all task types but those with a concurrency of their own, which have one each, as long as there
 * is room for another job. Requests that wait keep no room from each other: what together is more
 * than there is room for is given back at once, for another instance. A job is held for a short
 * lease, and kept while it runs, so that those of an instance that died move on in seconds.
 */
public final class PullRunner implements SmartLifecycle {

  private static final Logger log = LoggerFactory.getLogger(PullRunner.class);
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final Duration MARGIN = Duration.ofSeconds(10);
  private static final int MAX_JOBS = 200;
  private static final int MAX_TYPES = 32;
  private static final int ENDINGS = 5;
  private static final int EXTENDING = 8;

  private record Held(String taskId, long since, RemoteLease remote) {}

  private final ClientIdentity identity;
  private final TaskWorkers workers;
  private final JobRunner runner;
  private final SchedulerCalls calls;
  private final Duration lease;
  private final Duration patience;
  private final String worker;
  private final int concurrency;
  private final ToIntFunction<String> places;
  // By token; until a scheduler has taken the end, since the lease must hold as long.
  private final Map<String, Held> held = new ConcurrentHashMap<>();
  private volatile @Nullable Work work;

  /** What runs from a start to a stop. */
  private final class Work {

    final CountDownLatch stopped = new CountDownLatch(1);
    // What all task types have together.
    final Semaphore everywhere = new Semaphore(concurrency);
    final ScheduledThreadPoolExecutor heartbeat =
        new ScheduledThreadPoolExecutor(1, task -> daemon(task, "punctual-leases"));
    final ExecutorService extending =
        Executors.newFixedThreadPool(EXTENDING, task -> daemon(task, "punctual-extend"));
    final List<Thread> pullers = new ArrayList<>();

    void start() {
      // A type with a number of its own has its own request, which asks for no more than that.
      List<String> shared = new ArrayList<>();
      for (String type : workers.types()) {
        int most = places.applyAsInt(type);
        if (most < concurrency) {
          pull(new Puller(this, List.of(type), new Semaphore(most)), "punctual-pull-" + type);
        } else {
          shared.add(type);
        }
      }
      if (!shared.isEmpty()) {
        pull(new Puller(this, shared, new Semaphore(concurrency)), "punctual-pull");
      }
      var unused =
          heartbeat.scheduleWithFixedDelay(
              () -> extendAll(extending),
              lease.toMillis() / 3,
              lease.toMillis() / 3,
              TimeUnit.MILLISECONDS);
    }

    private void pull(Puller puller, String name) {
      Thread thread = daemon(puller::pull, name);
      // Not a daemon: an application without a web server lives as long as it has work.
      thread.setDaemon(false);
      pullers.add(thread);
      thread.start();
    }

    boolean goesOn() {
      return stopped.getCount() > 0;
    }

    void stop() throws InterruptedException {
      stopped.countDown();
      long end = System.nanoTime() + patience.toNanos();
      pullers.forEach(Thread::interrupt);
      for (Thread puller : pullers) {
        puller.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())));
      }
    }

    void end() {
      heartbeat.shutdownNow();
      extending.shutdownNow();
    }
  }

  /**
   * @param concurrency most jobs at once
   * @param places most jobs of a task type at once
   * @param lease how long a job is held unless it is kept
   * @param patience how long running jobs may take once the application stops
   */
  public PullRunner(
      ClientIdentity identity,
      TaskWorkers workers,
      JobRunner runner,
      SchedulerCalls calls,
      int concurrency,
      ToIntFunction<String> places,
      Duration lease,
      Duration patience) {
    this.identity = identity;
    this.workers = workers;
    this.runner = runner;
    this.calls = calls;
    this.lease = lease;
    this.patience = patience;
    this.worker = "pull:" + identity.application() + ":" + ProcessHandle.current().pid();
    this.concurrency = concurrency;
    this.places = places;
  }

  private static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  @Override
  public synchronized void start() {
    if (workers.types().isEmpty()) {
      return;
    }
    runner.open();
    Work started = new Work();
    work = started;
    started.start();
    log.info(
        "Punctual: {} pulls {} from {}",
        identity.application(),
        workers.types(),
        calls.shownSchedulers());
  }

  /** Asks for jobs of some types, as long as there is room for one. */
  private final class Puller {

    private final Work mine;
    private final List<String> types;
    private final Semaphore room;
    private int turn;

    Puller(Work mine, List<String> types, Semaphore room) {
      this.mine = mine;
      this.types = types;
      this.room = room;
    }

    void pull() {
      int failures = 0;
      while (mine.goesOn()) {
        int free = 0;
        try {
          room.acquire();
          free = 1 + takeMore();
          mine.everywhere.acquire();
          mine.everywhere.release();
          int given = fetch(Math.max(1, Math.min(free, mine.everywhere.availablePermits())));
          room.release(free - given);
          free = 0;
          failures = 0;
        } catch (InterruptedException e) {
          // The loop's condition says whether that was meant as an end.
          failures = 0;
        } catch (SchedulerUnavailableException e) {
          if (mine.goesOn() && failures++ == 0) {
            log.warn("No scheduler answers; trying again: {}", e.getMessage());
          }
          pause(failures);
        } catch (RuntimeException e) {
          log.error("Jobs could not be fetched; trying again", e);
          pause(++failures);
        } finally {
          room.release(free);
        }
      }
    }

    private int takeMore() {
      int more = 0;
      while (more < MAX_JOBS - 1 && room.tryAcquire()) {
        more++;
      }
      return more;
    }

    private void pause(int failures) {
      try {
        // A scheduler that restarts is not asked in a tight loop.
        var unused =
            mine.stopped.await(
                Math.min(1_000, 100L << Math.min(failures, 6)), TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        // The puller's loop looks whether that was meant as an end.
        return;
      }
    }

    /** Fetches jobs and starts them; answers how many. */
    private int fetch(int max) {
      List<String> some = new ArrayList<>();
      for (int i = 0; i < Math.min(MAX_TYPES, types.size()); i++) {
        some.add(types.get((turn + i) % types.size()));
      }
      // Nobody is always last, nor left out where there are more than one request may name.
      turn = (turn + (types.size() > MAX_TYPES ? MAX_TYPES : 1)) % types.size();
      Duration wait = types.size() > MAX_TYPES ? Duration.ofSeconds(1) : WAIT;
      Answer answer =
          calls.call(
              "POST",
              "/api/v1/claims",
              Map.of(
                  "application",
                  identity.application(),
                  "taskTypes",
                  some,
                  "max",
                  max,
                  "wait",
                  wait.toMillis(),
                  "timeToRun",
                  lease.toMillis(),
                  "worker",
                  worker),
              wait.plus(MARGIN));
      if (answer.status() == 204) {
        return 0;
      } else if (answer.status() != 200) {
        throw new IllegalStateException(
            "a scheduler answered HTTP " + answer.status() + ": " + answer.text("detail"));
      }
      JsonNode jobs = answer.body().get("jobs");
      for (JsonNode job : jobs) {
        start(job);
      }
      return jobs.size();
    }

    private void start(JsonNode node) {
      String token = node.get("token").stringValue();
      Map<String, String> headers = new TreeMap<>();
      node.get("headers")
          .properties()
          .forEach(header -> headers.put(header.getKey(), header.getValue().stringValue()));
      CallbackRequest.Job job =
          new CallbackRequest.Job(
              node.get("taskId").stringValue(),
              node.get("taskType").stringValue(),
              node.get("incarnation").stringValue(),
              node.get("attempt").intValue(),
              node.get("dueTime").longValue(),
              node.get("jobTimeToRun").longValue(),
              node.get("params").stringValue(),
              headers,
              token);
      // Its watch is ours alone.
      RemoteLease remote = new RemoteLease(calls, token, lease, more -> {});
      held.put(token, new Held(job.taskId(), System.nanoTime(), remote));
      if (!mine.everywhere.tryAcquire()) {
        giveBack(token, job);
        return;
      }
      var unused =
          runner
              .run(job, remote)
              .whenComplete(
                  (result, error) -> {
                    try {
                      if (result != null) {
                        end(token, job, result);
                      }
                    } finally {
                      held.remove(token);
                      mine.everywhere.release();
                      room.release();
                    }
                  });
    }

    /** Others were faster; given back, it costs no attempt. */
    private void giveBack(String token, CallbackRequest.Job job) {
      try {
        end(
            token,
            job,
            new CallbackResult(
                job.taskId(), job.incarnation(), CallbackResult.REFUSED, null, null, null));
      } finally {
        held.remove(token);
        room.release();
      }
    }
  }

  private void end(String token, CallbackRequest.Job job, CallbackResult result) {
    if (result.outcome().equals(CallbackResult.DEFERRED)) {
      // Its lease lasts as long as it should already.
      return;
    }
    Map<String, Object> body = new HashMap<>();
    body.put("worker", worker);
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
            calls.call("POST", "/api/v1/claims/" + token + "/" + how, plain ? null : body);
        if (answer.status() != 200) {
          log.warn(
              "The end ({}) of job {} of {} was not taken: {}",
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

  /** Keeps what has been held for a while; what was fetched just now has its lease still. */
  private void extendAll(ExecutorService extending) {
    long now = System.nanoTime();
    List<Callable<Boolean>> all = new ArrayList<>();
    held.forEach(
        (token, job) -> {
          if (now - job.since() > lease.toNanos() / 4) {
            all.add(() -> extend(token, job));
          }
        });
    try {
      var unused = extending.invokeAll(all, lease.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean extend(String token, Held job) {
    try {
      Answer answer =
          calls.call(
              "POST", "/api/v1/claims/" + token + "/extend", Map.of("timeToRun", lease.toMillis()));
      // It may have ended while the call was on its way.
      if (answer.status() == 409 && held.remove(token, job)) {
        log.warn("Job {} is not ours any more: {}", job.taskId(), answer.text("detail"));
        job.remote().lost();
      }
      return answer.status() == 200;
    } catch (RuntimeException e) {
      log.warn("The lease of job {} could not be extended", job.taskId(), e);
      return false;
    }
  }

  @Override
  public synchronized void stop() {
    Work ending = work;
    work = null;
    if (ending == null) {
      return;
    }
    try {
      ending.stop();
      if (!runner.drain(patience)) {
        log.warn("Some jobs did not end within {}; they will be delivered again", patience);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    ending.end();
  }

  @Override
  public boolean isRunning() {
    return work != null;
  }

  @Override
  public int getPhase() {
    return SmartLifecycle.DEFAULT_PHASE;
  }
}
