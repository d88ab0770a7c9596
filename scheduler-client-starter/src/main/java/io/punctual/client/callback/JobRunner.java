package io.punctual.client.callback;

import io.punctual.RejectTaskException;
import io.punctual.RetryLaterException;
import io.punctual.TaskWorker;
import io.punctual.client.TaskWorkers;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs jobs, so many at once, each at most for its time-to-run, each attempt once. */
public final class JobRunner implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(JobRunner.class);
  private static final int MAX_ERROR = 1500;

  private final TaskWorkers workers;
  private final int concurrency;
  private final ExecutorService threads;
  private final Semaphore permits;
  private final Incarnations incarnations = new Incarnations();
  private final ScheduledThreadPoolExecutor timer;
  private volatile boolean draining;

  public JobRunner(TaskWorkers workers, int concurrency) {
    this.workers = workers;
    this.concurrency = concurrency;
    this.threads = Threads.forJobs(concurrency);
    this.permits = new Semaphore(concurrency);
    this.timer =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "punctual-ttr");
              thread.setDaemon(true);
              return thread;
            });
    this.timer.setRemoveOnCancelPolicy(true);
  }

  /** Runs a job, or answers from memory; never completes exceptionally. */
  public CompletableFuture<CallbackResult> run(CallbackRequest.Job job) {
    TaskWorker worker = workers.find(job.taskType());
    if (worker == null) {
      return done(
          job,
          CallbackResult.REFUSED,
          "this instance has no worker for " + job.taskType() + ", it has " + workers.types());
    }
    if (draining) {
      return done(job, CallbackResult.REFUSED, "this instance is shutting down");
    }
    Incarnations.Decision decision = incarnations.decide(job.incarnation(), job.attempt());
    if (decision.verdict() == Incarnations.Verdict.STALE) {
      return done(job, CallbackResult.REFUSED, "a newer attempt of this job was here already");
    }
    if (decision.verdict() == Incarnations.Verdict.RUN) {
      threads.execute(() -> decision.result().complete(attempt(worker, job)));
    }
    return decision.result();
  }

  private CallbackResult attempt(TaskWorker worker, CallbackRequest.Job job) {
    Thread thread = Thread.currentThread();
    TimeLimit limit = new TimeLimit(thread);
    ScheduledFuture<?> watch = null;
    try {
      permits.acquire();
      try {
        watch = timer.schedule(limit::strike, job.timeToRun(), TimeUnit.MILLISECONDS);
        worker.invoke(job.params());
        return result(job, CallbackResult.DONE, null, null);
      } finally {
        permits.release();
        if (watch != null) {
          watch.cancel(false);
        }
        limit.over();
      }
    } catch (RejectTaskException e) {
      return result(job, CallbackResult.REJECT, null, describe(e));
    } catch (RetryLaterException e) {
      return result(job, CallbackResult.RETRY, e.delay(), describe(e));
    } catch (InterruptedException e) {
      return result(
          job,
          CallbackResult.RETRY,
          null,
          limit.struck()
              ? "interrupted: its time-to-run of " + job.timeToRun() + " ms was over"
              : "interrupted");
    } catch (Exception e) {
      log.warn("Job {} of {} failed, attempt {}", job.taskId(), job.taskType(), job.attempt(), e);
      return result(job, CallbackResult.RETRY, null, describe(e));
    } catch (Throwable e) {
      log.error("Job {} of {} failed, attempt {}", job.taskId(), job.taskType(), job.attempt(), e);
      return result(job, CallbackResult.RETRY, null, describe(e));
    }
  }

  private static String describe(Throwable e) {
    String text = e.getClass().getName() + (e.getMessage() == null ? "" : ": " + e.getMessage());
    return text.length() > MAX_ERROR ? text.substring(0, MAX_ERROR) + "..." : text;
  }

  private static CompletableFuture<CallbackResult> done(
      CallbackRequest.Job job, String outcome, String error) {
    return CompletableFuture.completedFuture(result(job, outcome, null, error));
  }

  private static CallbackResult result(
      CallbackRequest.Job job, String outcome, @Nullable Duration delay, @Nullable String error) {
    return new CallbackResult(
        job.taskId(), job.incarnation(), outcome, delay == null ? null : delay.toMillis(), error);
  }

  /**
   * Takes no more jobs and waits for those that run.
   *
   * @return whether all of them ended in time
   */
  public boolean drain(Duration patience) throws InterruptedException {
    draining = true;
    boolean quiet = permits.tryAcquire(concurrency, patience.toMillis(), TimeUnit.MILLISECONDS);
    if (quiet) {
      permits.release(concurrency);
    }
    return quiet;
  }

  @Override
  public void close() {
    draining = true;
    threads.shutdownNow();
    timer.shutdownNow();
  }

  /** Interrupts the thread once, and not after the job ended. */
  private static final class TimeLimit {
    private final Thread thread;
    private boolean struck;
    private boolean over;

    TimeLimit(Thread thread) {
      this.thread = thread;
    }

    synchronized void strike() {
      if (!over) {
        struck = true;
        thread.interrupt();
      }
    }

    synchronized void over() {
      over = true;
      if (struck) {
        // Do not let the interrupt fall on whatever runs next on this thread.
        var unused = Thread.interrupted();
      }
    }

    synchronized boolean struck() {
      return struck;
    }
  }
}
