package io.punctual.client.doctor;

import io.punctual.SchedulerUnavailableException;
import io.punctual.client.ClientIdentity;
import io.punctual.client.callback.AdvertisedCallback;
import io.punctual.client.json.JsonObject;
import io.punctual.client.registration.InstanceRegistration;
import io.punctual.client.submit.SchedulerCalls;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks a scheduler to call this instance, and writes into the log what it saw: once when it got
 * through, and each time that something else is in the way. Ends when all is well, or when nobody
 * can say.
 */
public final class ReachReport implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(ReachReport.class);

  /** An instance is in the registry, and schedulers have read it, some seconds after its start. */
  private static final Duration SOON = Duration.ofSeconds(5);

  private static final Duration LATER = Duration.ofMinutes(1);
  // So long a new instance may stay unseen; and so often it is looked for after that.
  private static final int PATIENCE = 12;
  private static final int MOST_UNSEEN = PATIENCE + 60;

  /**
   * What was found last.
   *
   * @param at when
   * @param status {@code ok}, {@code warning} or {@code problem} as the scheduler says; {@code
   *     unseen} while no scheduler knows this instance, and {@code problem} once that has lasted a
   *     minute; {@code unknown} if no scheduler can say it
   * @param code of docs/doctor.md; null where no probe has a result
   * @param url the address that was called; null where no probe has a result
   * @param message what was found, for people
   * @param remedy what to do; null where nothing is to be done
   */
  public record Finding(
      Instant at,
      String status,
      @Nullable String code,
      @Nullable String url,
      String message,
      @Nullable String remedy) {}

  private final ClientIdentity identity;
  private final InstanceRegistration registration;
  private final SchedulerCalls calls;
  private final Duration soon;
  private final Duration later;
  private final ScheduledThreadPoolExecutor timer;
  private volatile @Nullable Finding last;
  private String told = "";
  private int unseen;
  private boolean complained;

  /**
   * @param registration by which schedulers know this instance
   */
  public ReachReport(
      ClientIdentity identity, InstanceRegistration registration, SchedulerCalls calls) {
    this(identity, registration, calls, SOON, LATER);
  }

  ReachReport(
      ClientIdentity identity,
      InstanceRegistration registration,
      SchedulerCalls calls,
      Duration soon,
      Duration later) {
    this.identity = identity;
    this.registration = registration;
    this.calls = calls;
    this.soon = soon;
    this.later = later;
    this.timer =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "punctual-doctor");
              thread.setDaemon(true);
              return thread;
            });
    // Nothing stays of it once it is done.
    timer.setKeepAliveTime(1, TimeUnit.SECONDS);
    timer.allowCoreThreadTimeOut(true);
  }

  /** Begins. To be called once the instance is up. */
  public void start() {
    again(soon);
  }

  private void again(Duration delay) {
    if (!timer.isShutdown()) {
      var unused = timer.schedule(this::ask, delay.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  private void ask() {
    try {
      Duration next = next();
      if (next != null) {
        again(next);
      }
    } catch (SchedulerUnavailableException e) {
      // It comes back, or submitting says so.
      found("unknown", String.valueOf(e.getMessage()));
      again(later);
    } catch (RuntimeException | Error e) {
      // Without this an Error would end the report, and in silence.
      found("unknown", e.toString());
      log.debug("What schedulers see of this instance is not known; asking again", e);
      again(later);
    }
  }

  /** When to ask again; null for never. */
  private @Nullable Duration next() {
    try {
      if (calls.schedulers().isEmpty()) {
        found("unseen", "no scheduler is known here");
        return unseen(null);
      }
    } catch (RuntimeException e) {
      // Of the registry's client, which may be well again later.
      found("unknown", "the registry is not read: " + e);
      return later;
    }
    AdvertisedCallback own = registration.advertised();
    if (own == null) {
      String error = registration.error();
      found("unseen", error == null ? "it is not known yet where it is called" : error);
      return unseen(null);
    }
    String id = own.instance();
    SchedulerCalls.Answer answer =
        calls.call(
            "POST",
            "/api/v1/workers:probe",
            Map.of("application", identity.application(), "instance", id),
            Duration.ofSeconds(15));
    if (answer.status() == 200) {
      JsonObject probe = answer.body().object("probe");
      if (probe != null) {
        return tell(probe);
      }
      found("unseen", "a scheduler has not looked at this instance yet");
      return unseen(null);
    } else if (answer.status() == 404 && answer.text("detail").contains(id)) {
      found("unseen", answer.text("detail"));
      return unseen(id);
    }
    // A scheduler that knows no such call, or does not know us: submitting says that, too.
    found("unknown", "a scheduler answered HTTP " + answer.status());
    log.debug("A scheduler does not say what it sees of this instance: HTTP {}", answer.status());
    return null;
  }

  private void found(String status, String message) {
    last = new Finding(Instant.now(), status, null, null, message, null);
  }

  /** What was found last; null before the first look. */
  public @Nullable Finding last() {
    return last;
  }

  private @Nullable Duration unseen(@Nullable String instance) {
    unseen++;
    if (unseen >= PATIENCE && instance != null) {
      String message =
          "schedulers do not know this instance (%s), and so give it no jobs.".formatted(instance);
      String error = registration.error();
      if (error != null) {
        message += " Registration failed: " + error + ".";
      }
      last = new Finding(Instant.now(), "problem", null, null, message, registration.remedy());
      if (!complained) {
        complained = true;
        log.warn("Punctual: {} {}", message, registration.remedy());
      }
    }
    return unseen < PATIENCE ? soon : unseen < MOST_UNSEEN ? later : null;
  }

  private @Nullable Duration tell(JsonObject probe) {
    String code = probe.text("code", "");
    String status = probe.text("status", "");
    String url = probe.text("url", "");
    String message = probe.text("message", "");
    String remedy = probe.text("remedy", "");
    last = new Finding(Instant.now(), status, code, url, message, remedy.isEmpty() ? null : remedy);
    boolean changed = !told.equals(code);
    told = code;
    if (status.equals("ok")) {
      log.info("Punctual: a scheduler reaches this instance at {}. {}", url, message);
      return null;
    }
    if (changed && status.equals("problem")) {
      log.warn(
          "Punctual: the scheduler CANNOT REACH this instance at {}, so it gets no jobs ({}): {}. {}",
          url,
          code,
          message,
          remedy);
    } else if (changed) {
      log.warn(
          "Punctual: the scheduler reaches this instance at {}, but ({}): {}. {}",
          url,
          code,
          message,
          remedy);
    }
    return later;
  }

  /** Ends, whatever is under way. */
  @Override
  public void close() {
    timer.shutdownNow();
  }
}
