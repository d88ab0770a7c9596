package io.punctual.client.pull;

import io.punctual.client.ClientIdentity;
import io.punctual.client.run.JobRunner;
import io.punctual.client.submit.SchedulerCalls;
import io.punctual.internal.TaskWorkers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fetches jobs and runs them. While there is capacity, one request waits at a scheduler for all
 * task types. A task type with a concurrency of its own has a request of its own. Requests that
 * wait reserve no capacity: jobs that come beyond it are released at once, for another instance. A
 * job has a short lease, which is extended while the job runs, so that the jobs of an instance that
 * died move on in seconds.
 *
 * <p>A stop loses no job: it asks the schedulers to end the requests that wait, releases the jobs
 * that they have brought, and waits until the result of every job was sent.
 */
public final class PullRunner implements AutoCloseable {

  /**
   * How long a fetched job is held unless it is kept: after this time the jobs of an instance that
   * died move on. A shorter one costs more requests for long jobs.
   */
  public static final Duration LEASE = Duration.ofSeconds(15);

  private static final Logger log = LoggerFactory.getLogger(PullRunner.class);

  /** How long a scheduler may take to say that the requests that wait are over. */
  private static final Duration LEAVING = Duration.ofSeconds(2);

  private final ClientIdentity identity;
  private final TaskWorkers workers;
  private final JobRunner runner;
  private final SchedulerCalls calls;
  private final Duration lease;
  private final Duration patience;
  private final String worker;
  private final int concurrency;
  private final ToIntFunction<String> places;
  private volatile @Nullable Work work;
  private volatile boolean running;

  /** The pollers from a start to a stop. */
  private final class Work {

    final Poller.Pull pull =
        new Poller.Pull(
            identity.application(),
            worker,
            calls,
            runner,
            new HeldJobs(calls, lease),
            new PullCapacity(concurrency),
            lease,
            new CountDownLatch(1));
    final List<Poller> pollers = new CopyOnWriteArrayList<>();
    final List<Thread> threads = new CopyOnWriteArrayList<>();

    void start() {
      // A type with a number of its own has its own request, which asks for no more than that.
      List<String> shared = new ArrayList<>();
      for (String type : workers.types()) {
        int most = places.applyAsInt(type);
        if (most < concurrency) {
          start(new Poller(pull, List.of(type), most), "punctual-pull-" + type);
        } else {
          shared.add(type);
        }
      }
      if (!shared.isEmpty()) {
        start(new Poller(pull, shared, concurrency), "punctual-pull");
      }
    }

    /**
     * Stops asking for types that were removed, and asks for each new one by a request of its own:
     * the requests that wait name other types.
     */
    void update() {
      Set<String> now = workers.types();
      Set<String> known = new HashSet<>();
      boolean fewer = false;
      threads.removeIf(thread -> !thread.isAlive());
      pollers.removeIf(poller -> poller.types().isEmpty() && poller.room().taken() == 0);
      for (Poller poller : pollers) {
        fewer |= !now.containsAll(poller.types());
        poller.keep(now);
        known.addAll(poller.types());
      }
      for (String type : now) {
        if (!known.contains(type)) {
          int most = Math.min(places.applyAsInt(type), concurrency);
          start(new Poller(pull, List.of(type), most), "punctual-pull-" + type);
        }
      }
      if (fewer) {
        // Else they bring jobs of removed types, which are released at once.
        Thread ending = new Thread(this::endWaiting, "punctual-pull-update");
        ending.setDaemon(true);
        ending.start();
      }
    }

    private void endWaiting() {
      try {
        calls.callEach("/api/v1/claims:leave", leaving(), LEAVING);
      } catch (RuntimeException e) {
        log.debug("Requests for jobs of removed task types still wait at a scheduler", e);
      }
    }

    private void start(Poller poller, String name) {
      // No daemon: an application without a web server lives as long as it has work.
      Thread thread = new Thread(poller, name);
      thread.setDaemon(false);
      pollers.add(poller);
      threads.add(thread);
      thread.start();
    }

    /**
     * Fetches no more jobs. A request that waits is ended by its scheduler, not by closing its
     * connection: the scheduler may be answering it with jobs.
     *
     * @param deadline monotonic ns
     */
    void leave(long deadline) throws InterruptedException {
      pull.stopped().countDown();
      pull.everywhere().close();
      pollers.forEach(poller -> poller.room().close());
      Map<String, Object> body = leaving();
      while (isPolling() && System.nanoTime() < deadline) {
        calls.callEach("/api/v1/claims:leave", body, LEAVING);
        // Repeated, since a request may reach a scheduler after this call.
        join(Math.min(deadline, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(200)));
      }
      if (isPolling()) {
        log.warn(
            "Requests for jobs still wait at a scheduler after {}; their connections are closed",
            patience);
        threads.forEach(Thread::interrupt);
        join(System.nanoTime() + LEAVING.toNanos());
      }
    }

    private boolean isPolling() {
      return threads.stream().anyMatch(Thread::isAlive);
    }

    private void join(long deadline) throws InterruptedException {
      for (Thread thread : threads) {
        thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())));
      }
    }
  }

  /**
   * @param concurrency most jobs at once
   * @param places most jobs of a task type at once
   * @param lease how long a job is held unless it is kept
   * @param patience how long running jobs, and sending their ends, may take once the application
   *     stops
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
    this.worker = name(identity.application());
    this.concurrency = concurrency;
    this.places = places;
    workers.onChange(this::update);
  }

  // In containers all processes have the same id: a stop must end the requests of this one alone.
  private static String name(String application) {
    String shown = application.length() > 50 ? application.substring(0, 50) : application;
    String unique = UUID.randomUUID().toString().substring(0, 8);
    return "pull:" + shown + ":" + ProcessHandle.current().pid() + "-" + unique;
  }

  private Map<String, Object> leaving() {
    return Map.of("application", identity.application(), "worker", worker);
  }

  /** Begins to fetch jobs; after {@link #close}, begins again. Without workers it waits for one. */
  public synchronized void start() {
    runner.open();
    Work started = new Work();
    work = started;
    running = true;
    started.start();
    if (workers.types().isEmpty()) {
      return;
    }
    log.info(
        "Punctual: {} pulls {} from {}",
        identity.application(),
        workers.types(),
        calls.shownSchedulers());
  }

  /** Asks for the task types that there are now. */
  private synchronized void update() {
    Work now = work;
    if (now != null && running) {
      now.update();
    }
  }

  @Override
  public synchronized void close() {
    Work ending = work;
    if (ending == null || !running) {
      return;
    }
    running = false;
    long deadline = System.nanoTime() + patience.toNanos();
    try {
      ending.leave(deadline);
      Duration left = Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
      if (!runner.drain(left) || !ending.pull.held().awaitNone(deadline)) {
        log.warn(
            "{} jobs did not end within {}, or no scheduler took their ends; they will be"
                + " delivered again",
            ending.pull.held().size(),
            patience);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    ending.pull.held().close();
  }

  /** Returns whether jobs are fetched. */
  public boolean isRunning() {
    return running;
  }

  /** Returns how many places are taken and jobs held, those of a stopped runner too. For tests. */
  int inUse() {
    Work last = work;
    return last == null
        ? 0
        : last.pull.held().size()
            + last.pull.everywhere().taken()
            + last.pollers.stream().mapToInt(poller -> poller.room().taken()).sum();
  }
}
