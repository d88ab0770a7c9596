package io.punctual.client.registration;

import io.punctual.SchedulerUnavailableException;
import io.punctual.client.ClientIdentity;
import io.punctual.client.callback.AdvertisedCallback;
import io.punctual.client.submit.NoSchedulerException;
import io.punctual.client.submit.SchedulerCalls;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registers this instance at the schedulers, where there is no registry: one of them is told, and
 * all that share its Redis know the instance within a second. It is renewed until the instance
 * leaves. If renewals stop, it is gone after 30 s.
 */
public final class SchedulerRegistration implements InstanceRegistration {

  private static final Logger log = LoggerFactory.getLogger(SchedulerRegistration.class);

  private static final Duration TTL = Duration.ofSeconds(30);
  private static final Duration CALL = Duration.ofSeconds(5);
  // A call that no scheduler answers takes seconds already; one that is refused takes none.
  private static final Duration AFTER_NO_ANSWER = Duration.ofSeconds(1);
  private static final Duration AFTER_REFUSAL = Duration.ofSeconds(5);
  private static final String SET_ADDRESS =
      "set punctual.callback.url to an address at which they reach this instance";

  /** What is in the way, and of what kind that is: a kind is logged once. */
  private record Problem(String kind, String text) {}

  private final ClientIdentity identity;
  private final SchedulerCalls calls;
  private final WorkerMetadata metadata;
  private final Function<List<URI>, @Nullable URI> address;
  private @Nullable ScheduledThreadPoolExecutor timer;
  private volatile @Nullable AdvertisedCallback advertised;
  private volatile @Nullable Problem problem;
  private volatile boolean leaving;
  private volatile boolean sent;
  private boolean entered;
  // Names this run, so that what leaves is this one, and no renewal that comes late brings it back.
  private volatile String session = "";

  /**
   * Registers at one address.
   *
   * @param metadata what this instance runs, and how
   * @param callback where schedulers call it: http or https, a host, a plain path
   * @throws IllegalArgumentException if that is no such address
   */
  public SchedulerRegistration(
      ClientIdentity identity, SchedulerCalls calls, WorkerMetadata metadata, URI callback) {
    this(identity, calls, metadata, fixed(checked(callback)));
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

  private static Function<List<URI>, @Nullable URI> fixed(URI callback) {
    return schedulers -> callback;
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
          return host == null
              ? null
              : checked(URI.create(server.apply(host) + metadata.callbackPath()));
        });
  }

  /** With its port, as schedulers call it. */
  private static URI checked(URI callback) {
    String scheme = String.valueOf(callback.getScheme()).toLowerCase(Locale.ROOT);
    boolean secure = scheme.equals("https");
    if ((!secure && !scheme.equals("http"))
        || callback.getHost() == null
        || callback.getRawUserInfo() != null
        || callback.getRawQuery() != null
        || callback.getRawFragment() != null
        || !WorkerMetadata.isPlainPath(String.valueOf(callback.getRawPath()))) {
      throw new IllegalArgumentException(
          "The address of callbacks must be one such as http://10.0.0.7:8081/punctual/callback,"
              + " without user, query or fragment, and with a plain path");
    }
    int port = callback.getPort() >= 0 ? callback.getPort() : secure ? 443 : 80;
    return URI.create(scheme + "://" + callback.getHost() + ":" + port + callback.getRawPath());
  }

  /** Registers, and renews that, unless there is nothing that this instance runs. */
  @Override
  public synchronized void register() {
    if (timer != null || metadata.taskTypes().isEmpty()) {
      return;
    }
    leaving = false;
    session = UUID.randomUUID().toString();
    entered = false;
    sent = false;
    // A context that is started again may have another port.
    advertised = null;
    problem = new Problem("", "the first registration has no answer yet");
    ScheduledThreadPoolExecutor own =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "punctual-registration");
              thread.setDaemon(true);
              return thread;
            });
    timer = own;
    own.execute(() -> register(own));
  }

  /** Removes the registration, within some seconds if schedulers answer. */
  @Override
  public synchronized void deregister() {
    if (timer == null) {
      return;
    }
    leaving = true;
    // A renewal that is under way ends at once, and none follows the removal.
    timer.shutdownNow();
    try {
      if (!timer.awaitTermination(CALL.toMillis(), TimeUnit.MILLISECONDS)) {
        log.debug("A renewal of the registration does not end");
      }
      AdvertisedCallback own = advertised;
      if (own != null && sent) {
        remove(own);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      timer = null;
    }
  }

  private void remove(AdvertisedCallback own) {
    String why;
    try {
      int status =
          calls.callWithin(CALL, "DELETE", path(own) + "?session=" + session, null).status();
      if (status == 200 || status == 404) {
        return;
      }
      why = "HTTP " + status;
    } catch (RuntimeException e) {
      why = e instanceof NoSchedulerException none ? none.reason() : e.toString();
    }
    log.warn(
        "Punctual: the registration of {} at the schedulers could not be removed: {}. They call it"
            + " until the registration ends, {} s after the last renewal. No job is lost",
        own.instance(),
        why,
        TTL.toSeconds());
  }

  @Override
  public @Nullable AdvertisedCallback advertised() {
    return advertised;
  }

  @Override
  public @Nullable String error() {
    Problem now = problem;
    return now == null ? null : now.text();
  }

  @Override
  public String remedy() {
    return "The log says why it is not registered at them.";
  }

  private void register(ScheduledExecutorService timer) {
    Duration next = AFTER_REFUSAL;
    try {
      next = registered();
    } catch (SchedulerUnavailableException e) {
      reportProblem(
          "no answer",
          e instanceof NoSchedulerException none
              ? none.reason() + " " + none.remedy()
              : String.valueOf(e.getMessage()));
      next = AFTER_NO_ANSWER;
    } catch (IllegalStateException | IllegalArgumentException e) {
      reportProblem("address", String.valueOf(e.getMessage()));
    } catch (RuntimeException | Error e) {
      // Of the registry in which schedulers are. Without this, an Error would end the renewals.
      reportProblem("defect", e.toString());
    } finally {
      if (!leaving) {
        var unused = timer.schedule(() -> register(timer), next.toMillis(), TimeUnit.MILLISECONDS);
      }
    }
  }

  /** Returns when to call again. */
  private Duration registered() {
    AdvertisedCallback own = current();
    if (own == null) {
      return AFTER_NO_ANSWER;
    }
    sent = true;
    SchedulerCalls.Answer answer =
        calls.callWithin(
            CALL,
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
                "session",
                session,
                "ttl",
                TTL.toSeconds() + "s"));
    int status = answer.status();
    if (status != 200 && status != 201) {
      String detail = answer.text("detail");
      reportProblem(
          "HTTP " + status,
          "a scheduler refused it, HTTP "
              + status
              + ": "
              + (detail.isEmpty() ? "it takes no registrations, or is an older one" : detail));
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

  /** What to register: looked up each time, as a machine may get another address. */
  private @Nullable AdvertisedCallback current() {
    AdvertisedCallback before = advertised;
    List<URI> schedulers = calls.schedulers();
    URI callback = address.apply(schedulers);
    if (callback == null) {
      if (before == null) {
        reportProblem(
            "no address",
            schedulers.isEmpty()
                ? "no scheduler is known"
                : "this machine has no route to the schedulers "
                    + calls.shownSchedulers()
                    + "; "
                    + SET_ADDRESS);
      }
      return before;
    }
    // Two instances at one address are one: it is the address that is called.
    AdvertisedCallback now = new AdvertisedCallback(callback.getAuthority(), callback);
    if (before != null && !before.equals(now)) {
      entered = false;
      remove(before);
      // It may get the address before that back.
      session = UUID.randomUUID().toString();
    }
    advertised = now;
    return now;
  }

  private void reportProblem(String kind, String text) {
    Problem before = problem;
    if (!leaving && (before == null || !before.kind().equals(kind))) {
      log.warn(
          "Punctual: this instance is not registered at the schedulers{}: {} It is tried again",
          entered ? " any more, or soon will not be" : "",
          text.endsWith(".") ? text : text + ".");
    }
    problem = new Problem(kind, text);
  }

  private String path(AdvertisedCallback own) {
    return "/api/v1/workers/"
        + URLEncoder.encode(identity.application(), StandardCharsets.UTF_8)
        + "/"
        + URLEncoder.encode(own.instance(), StandardCharsets.UTF_8);
  }
}
