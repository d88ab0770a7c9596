package io.punctual.internal;

import io.punctual.RejectTaskException;
import io.punctual.RetryLaterException;
import io.punctual.spi.JobAttempt;
import io.punctual.spi.JobListener;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Tells all listeners of an attempt; one that throws disturbs nobody. */
public final class JobListeners {

  private static final System.Logger log = System.getLogger(JobListeners.class.getName());

  private final List<JobListener> listeners;

  public JobListeners(List<JobListener> listeners) {
    this.listeners = List.copyOf(listeners);
  }

  /**
   * What it means that an attempt ended so.
   *
   * @param thrown what the worker threw; null that it returned
   * @param deferred whether it said that the job goes on without it
   */
  public static JobAttempt.Outcome outcome(@Nullable Throwable thrown, boolean deferred) {
    if (thrown == null) {
      return deferred ? JobAttempt.Outcome.DEFERRED : JobAttempt.Outcome.DONE;
    } else if (thrown instanceof RejectTaskException) {
      return JobAttempt.Outcome.REJECTED;
    }
    return thrown instanceof RetryLaterException
        ? JobAttempt.Outcome.RETRY_LATER
        : JobAttempt.Outcome.FAILED;
  }

  /**
   * An attempt has ended just now.
   *
   * @param startNanos {@link System#nanoTime} when it began
   * @param error what the worker threw; null if it returned
   * @param deferred whether it said that the job goes on without it
   */
  public void ended(
      String taskType,
      String taskId,
      int attempt,
      long dueTime,
      long startNanos,
      @Nullable Throwable error,
      boolean deferred) {
    if (listeners.isEmpty()) {
      return;
    }
    Duration duration = Duration.ofNanos(System.nanoTime() - startNanos);
    ended(
        new JobAttempt(
            taskType,
            taskId,
            attempt,
            Instant.ofEpochMilli(dueTime),
            Instant.now().minus(duration),
            duration,
            outcome(error, deferred),
            error));
  }

  /** As above, where the report is made already. */
  public void ended(JobAttempt report) {
    for (JobListener listener : listeners) {
      try {
        listener.ended(report);
      } catch (Throwable e) {
        // Errors too: behind this the end of the attempt is stored and its slot becomes free.
        log.log(
            System.Logger.Level.WARNING,
            "The listener "
                + listener.getClass().getName()
                + " failed on job "
                + report.taskId()
                + " of "
                + report.taskType(),
            e);
      }
    }
  }
}
