package io.punctual.client.registration;

import io.punctual.SchedulerUnavailableException;
import io.punctual.client.ClientIdentity;
import io.punctual.client.callback.AdvertisedCallback;
import io.punctual.client.submit.SchedulerCalls;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registers this instance at the schedulers, where there is no registry: one of them is told, and
 * all that share its Redis know the instance within a second. It is renewed until the instance
 * leaves; one that stops to renew is gone after 30 s.
 */
public final class SchedulerRegistration implements InstanceRegistration {

  private static final Logger log = LoggerFactory.getLogger(SchedulerRegistration.class);

  private static final Duration TTL = Duration.ofSeconds(30);
  private static final Duration ANSWER = Duration.ofSeconds(5);
  // A call that no scheduler answers takes seconds already; one that is refused takes none.
  private static final Duration AFTER_NO_ANSWER = Duration.ofSeconds(1);
  private static final Duration AFTER_REFUSAL = Duration.ofSeconds(5);

  private final ClientIdentity identity;
  private final SchedulerCalls calls;
  private final WorkerMetadata metadata;
  private final Function<List<URI>, @Nullable URI> address;
  // One thread: nothing renews a registration that was taken back.
  private @Nullable ScheduledThreadPoolExecutor timer;
  private volatile @Nullable AdvertisedCallback advertised;
  private volatile @Nullable String problem;
  private volatile boolean leaving;
  private boolean entered;

  /**
   * Registers at one address.
   *
   * @param metadata what this instance runs, and how
   * @param callback where schedulers call it
   */
  public SchedulerRegistration(
      ClientIdentity identity, SchedulerCalls calls, WorkerMetadata metadata, URI callback) {
    this(identity, calls, metadata, schedulers -> callback);
  }

  private SchedulerRegistration(
      ClientIdentity identity,
      SchedulerCalls calls,
      WorkerMetadata metadata,
      Function<List<URI>, @Nullable URI> address) {
    this.identity = identity;
    this.calls = calls;
    this.metadata = metadata;
    this.address = address;
  }

  /**
   * Registers at the address from which this machine calls schedulers, below which is the path of
   * the metadata.
   *
   * @param server makes the base address of the web server of the host in it, such as {@code
   *     10.0.0.7}; called once this instance is entered
   */
  public static SchedulerRegistration atLocalAddress(
      ClientIdentity identity,
      SchedulerCalls calls,
      WorkerMetadata metadata,
      Function<String, URI> server) {
    return new SchedulerRegistration(
        identity,
        calls,
        metadata,
        schedulers -> {
          String host = LocalAddress.towards(schedulers);
          return host == null ? null : URI.create(server.apply(host) + metadata.callbackPath());
        });
  }

  /** Registers, and goes on to, unless there is nothing that this instance runs. */
  @Override
  public synchronized void enter() {
    if (timer != null || metadata.taskTypes().isEmpty()) {
      return;
    }
    leaving = false;
    entered = false;
    timer =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "punctual-registration");
              thread.setDaemon(true);
              return thread;
            });
    ScheduledExecutorService own = timer;
    timer.execute(() -> register(own));
  }

  /** Takes the registration back, within five seconds if schedulers answer. */
  @Override
  public synchronized void leave() {
    if (timer == null) {
      return;
    }
    leaving = true;
    try {
      var unused = timer.submit(this::remove).get(ANSWER.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      log.warn(
          "Punctual: no scheduler could be told that this instance stops; they try to call it for"
              + " {} s more at most",
          TTL.toSeconds());
    } finally {
      timer.shutdownNow();
      timer = null;
    }
  }

  @Override
  public @Nullable AdvertisedCallback advertised() {
    return advertised;
  }

  @Override
  public @Nullable String problem() {
    return problem;
  }

  @Override
  public String remedy() {
    return "The log says why it is not registered at them.";
  }

  private void register(ScheduledExecutorService timer) {
    if (leaving) {
      return;
    }
    Duration next = AFTER_REFUSAL;
    try {
      next = registered();
    } catch (SchedulerUnavailableException e) {
      complain(String.valueOf(e.getMessage()));
      next = AFTER_NO_ANSWER;
    } catch (RuntimeException | Error e) {
      // Of the registry in which schedulers are. Without this, an Error would end the renewals.
      complain(e.toString());
    } finally {
      if (!leaving) {
        var unused = timer.schedule(() -> register(timer), next.toMillis(), TimeUnit.MILLISECONDS);
      }
    }
  }

  /** Returns when to call again. */
  private Duration registered() {
    AdvertisedCallback own = advertised;
    if (own == null) {
      own = found();
      if (own == null) {
        complain("no scheduler is known, or this machine has no route to it");
        return AFTER_NO_ANSWER;
      }
      advertised = own;
    }
    SchedulerCalls.Answer answer =
        calls.call(
            "PUT",
            path(own),
            Map.of(
                "url",
                own.address().toString(),
                "taskTypes",
                new TreeSet<>(metadata.taskTypes()),
                "concurrency",
                metadata.concurrency(),
                "protocol",
                metadata.protocol(),
                "ttl",
                TTL.toSeconds() + "s"),
            ANSWER);
    if (answer.status() != 200 && answer.status() != 201) {
      complain("a scheduler refused it, HTTP " + answer.status() + ": " + answer.text("detail"));
      return AFTER_REFUSAL;
    }
    if (!entered || problem != null) {
      log.info(
          "Punctual: registered at the schedulers as instance {} at {}",
          own.instance(),
          own.address());
    }
    entered = true;
    problem = null;
    long renewAfter = answer.body().number("renewAfter", TTL.toMillis() / 3);
    return Duration.ofMillis(Math.max(AFTER_NO_ANSWER.toMillis(), renewAfter));
  }

  private @Nullable AdvertisedCallback found() {
    URI callback = address.apply(calls.schedulers());
    // Two instances at one address are one: it is the address that is called.
    return callback == null ? null : new AdvertisedCallback(callback.getAuthority(), callback);
  }

  private void complain(String what) {
    if (!what.equals(problem) && !leaving) {
      log.warn(
          "Punctual: this instance is not registered at the schedulers{}: {}. It is tried again",
          entered ? " any more, or soon will not be" : "",
          what);
    }
    problem = what;
  }

  private void remove() {
    AdvertisedCallback own = advertised;
    if (own != null) {
      var unused = calls.call("DELETE", path(own), null, ANSWER.dividedBy(2));
    }
  }

  private String path(AdvertisedCallback own) {
    return "/api/v1/workers/"
        + URLEncoder.encode(identity.application(), StandardCharsets.UTF_8)
        + "/"
        + URLEncoder.encode(own.instance(), StandardCharsets.UTF_8);
  }
}
