package io.punctual.client.doctor;

import io.punctual.SchedulerUnavailableException;
import io.punctual.client.ClientIdentity;
import io.punctual.client.submit.NoSchedulerException;
import io.punctual.client.submit.SchedulerCalls;
import java.time.Duration;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns, some seconds after the start and then each minute, while no scheduler answers this
 * application. Ends once one does: what happens later, each send says itself.
 */
public final class SchedulerWatch implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(SchedulerWatch.class);
  private static final Duration FIRST = Duration.ofSeconds(5);
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final Duration LATER = Duration.ofMinutes(1);

  private final ClientIdentity identity;
  private final SchedulerCalls calls;
  private final Duration first;
  private final Duration patience;
  private final Duration later;
  private final ScheduledThreadPoolExecutor timer;
  private boolean warned;

  /** A watch that begins with {@link #start}. */
  public SchedulerWatch(ClientIdentity identity, SchedulerCalls calls) {
    this(identity, calls, FIRST, PATIENCE, LATER);
  }

  SchedulerWatch(
      ClientIdentity identity,
      SchedulerCalls calls,
      Duration first,
      Duration patience,
      Duration later) {
    this.identity = identity;
    this.calls = calls;
    this.first = first;
    this.patience = patience;
    this.later = later;
    this.timer =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "punctual-watch");
              thread.setDaemon(true);
              return thread;
            });
    // No thread stays once it has ended.
    timer.setKeepAliveTime(1, TimeUnit.SECONDS);
    timer.allowCoreThreadTimeOut(true);
  }

  /** Begins. To be called once the application is up. */
  public void start() {
    again(first);
  }

  private void again(Duration delay) {
    if (!timer.isShutdown()) {
      var unused = timer.schedule(this::look, delay.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  private void look() {
    boolean answered = false;
    try {
      answered = isAnswered();
    } catch (RuntimeException | Error e) {
      // Without this the watch would end, and in silence.
      log.warn("Punctual: whether a scheduler answers was not seen; looking again", e);
    }
    if (!answered) {
      warned = true;
      again(later);
    } else if (warned && !timer.isShutdown()) {
      log.info("Punctual: a scheduler answers {} now", identity.application());
    }
  }

  private boolean isAnswered() {
    SchedulerCalls.Answer answer;
    try {
      answer =
          calls.callWithin(
              patience,
              "GET",
              "/api/v1/workers?application=%s&limit=1".formatted(identity.application()),
              null);
    } catch (NoSchedulerException e) {
      log.warn(
          "Punctual: NO SCHEDULER ANSWERS {}, so its jobs are neither sent nor run: {} {}",
          identity.application(),
          e.reason(),
          e.remedy());
      return false;
    } catch (SchedulerUnavailableException e) {
      // The application ends.
      log.debug("Whether a scheduler answers was not seen", e);
      return true;
    }
    if (answer.status() == 401 || answer.status() == 403) {
      log.warn(
          "Punctual: the schedulers REFUSE {}, so its jobs are neither sent nor run: HTTP {}: {}. Set"
              + " punctual.token to what their command \"credentials {}\" prints.",
          identity.application(),
          answer.status(),
          answer.text("detail"),
          identity.application());
      return false;
    } else if (answer.status() != 200) {
      log.warn(
          "Punctual: no scheduler answers {}, but something else does at {}: HTTP {}. Correct"
              + " punctual.url, or punctual.service-id.",
          identity.application(),
          calls.shownSchedulers(),
          answer.status());
      return false;
    }
    return true;
  }

  /** Ends, whatever is under way. */
  @Override
  public void close() {
    timer.shutdownNow();
  }
}
