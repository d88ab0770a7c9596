package io.punctual.client.registration;

import io.punctual.SchedulerUnavailableException;
import io.punctual.client.ClientIdentity;
import io.punctual.client.callback.AdvertisedCallback;
import io.punctual.client.submit.NoSchedulerException;
import io.punctual.client.submit.SchedulerCalls;
import io.punctual.internal.ConfiguredUrl;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registers this instance at the schedulers, without a registry. It calls one scheduler, and all
 * schedulers that share its Redis know the instance within a second. It renews the registration
 * until it is told to deregister. Schedulers drop it 30 s after the last renewal.
 */
public final class SchedulerRegistration implements InstanceRegistration {

  private static final Logger log = LoggerFactory.getLogger(SchedulerRegistration.class);

  private static final Duration TTL = Duration.ofSeconds(30);
  private static final Duration CALL = Duration.ofSeconds(5);
  // A call that no scheduler answers takes seconds already; one that is refused takes none.
  private static final Duration AFTER_NO_ANSWER = Duration.ofSeconds(1);
  private static final Duration AFTER_REFUSAL = Duration.ofSeconds(5);
  private static final String SET_ADDRESS =
      "Set punctual.callback.url to an address at which schedulers reach this instance.";

  /**
   * Why the registration failed.
   *
   * @param kind is logged once, until the registration succeeds
   * @param text without a period at the end
   * @param remedy in whole sentences
   */
  private record Problem(String kind, String text, String remedy) {}

  private final ClientIdentity identity;
  private final SchedulerCalls calls;
  private final Supplier<WorkerMetadata> metadata;
  private final Function<List<URI>, @Nullable URI> address;
  private @Nullable ScheduledThreadPoolExecutor timer;
  private boolean wanted;
  // Of the timer's thread alone.
  private @Nullable Future<?> next;
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
   * @param metadata returns what this instance runs, and how; called before each renewal
   * @param callback where schedulers call it: http or https, a host, an optional port, a plain path
   * @throws IllegalArgumentException if a part of the address is wrong; the message names the part
   */
  public SchedulerRegistration(
      ClientIdentity identity,
      SchedulerCalls calls,
      Supplier<WorkerMetadata> metadata,
      URI callback) {
    this(identity, calls, metadata, fixed(checked(callback)));
  }

  private SchedulerRegistration(
      ClientIdentity identity,
      SchedulerCalls calls,
      Supplier<WorkerMetadata> metadata,
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
   * Registers the local IP address on the route to a scheduler, followed by the callback path of
   * the metadata. The address is looked up before each renewal.
   *
   * @param metadata as for the constructor
   * @param server returns the base URL of this instance's web server for a host such as {@code
   *     10.0.0.7} or {@code [fd00::7]}; called after {@link #register}, before each renewal
   */
  public static SchedulerRegistration atLocalAddress(
      ClientIdentity identity,
      SchedulerCalls calls,
      Supplier<WorkerMetadata> metadata,
      Function<String, URI> server) {
    return new SchedulerRegistration(
        identity,
        calls,
        metadata,
        schedulers -> {
          String host = LocalAddress.towards(schedulers);
          return host == null
              ? null
              : checked(URI.create(server.apply(host) + metadata.get().callbackPath()));
        });
  }

  /** Returns the address with its port, as schedulers call it. */
  private static URI checked(URI callback) {
    String flaw = ConfiguredUrl.flaw(callback);
    if (flaw == null && !WorkerMetadata.isPlainPath(callback.getRawPath())) {
      flaw = "its path is not plain: segments of letters, digits and . _ ~ -";
    }
    if (flaw != null) {
      throw new IllegalArgumentException(
          "The callback address must be such as http://10.0.0.7:8081/punctual/callback, but was"
              + " '%s': %s".formatted(ConfiguredUrl.masked(callback), flaw));
    }
    boolean secure = callback.getScheme().equalsIgnoreCase("https");
    String scheme = secure ? "https" : "http";
    int port = callback.getPort() >= 0 ? callback.getPort() : secure ? 443 : 80;
    return URI.create(scheme + "://" + callback.getHost() + ":" + port + callback.getRawPath());
  }

  /** Registers and renews in the background, once there are task types. */
  @Override
  public synchronized void register() {
    wanted = true;
    if (timer != null || metadata.get().taskTypes().isEmpty()) {
      return;
    }
    leaving = false;
    session = UUID.randomUUID().toString();
    entered = false;
    sent = false;
    // A context that is started again may have another port.
    advertised = null;
    problem =
        new Problem(
            "",
            "the first registration has no answer yet",
            "Wait: it is retried until it succeeds.");
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

  /**
   * Renews the registration now. Without task types, it is removed; with the next one, the instance
   * registers again.
   */
  @Override
  public synchronized void update() {
    ScheduledThreadPoolExecutor own = timer;
    if (!wanted) {
      return;
    } else if (own == null) {
      register();
    } else {
      own.execute(() -> register(own));
    }
  }

  /** Removes the registration, within some seconds if schedulers answer. */
  @Override
  public synchronized void deregister() {
    wanted = false;
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
        "Punctual: deregistration of instance {} failed: {}. Schedulers call it until {} s after the"
            + " last renewal. No job is lost.",
        own.instance(),
        withoutPeriod(why),
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
    Problem now = problem;
    return now == null
        ? "A scheduler accepted the registration, but another one does not know it. All schedulers"
            + " in punctual.url must use the same Redis."
        : now.remedy();
  }

  private void register(ScheduledExecutorService timer) {
    Duration pause = AFTER_REFUSAL;
    Future<?> planned = next;
    if (planned != null) {
      planned.cancel(false);
    }
    try {
      pause = registered();
    } catch (SchedulerUnavailableException e) {
      reportProblem("no answer", reason(e), remedy(e));
      pause = AFTER_NO_ANSWER;
    } catch (IllegalStateException | IllegalArgumentException e) {
      reportProblem("address", String.valueOf(e.getMessage()), SET_ADDRESS);
    } catch (RuntimeException | Error e) {
      // Of the registry in which schedulers are. Without this, an Error would end the renewals.
      log.debug("The registration failed", e);
      reportProblem(
          "defect", e.toString(), "If the registry's client failed, set punctual.url instead.");
    } finally {
      if (!leaving) {
        next = timer.schedule(() -> register(timer), pause.toMillis(), TimeUnit.MILLISECONDS);
      }
    }
  }

  private static String reason(SchedulerUnavailableException e) {
    return e instanceof NoSchedulerException none ? none.reason() : String.valueOf(e.getMessage());
  }

  private static String remedy(SchedulerUnavailableException e) {
    // Else it says to repeat a call with the task id of a job.
    return e instanceof NoSchedulerException none && !none.mayHaveTakenEffect()
        ? none.remedy()
        : "Check whether the schedulers and their Redis are overloaded.";
  }

  /** Returns when to call again. */
  private Duration registered() {
    AdvertisedCallback own = current();
    if (own == null) {
      return AFTER_NO_ANSWER;
    }
    WorkerMetadata now = metadata.get();
    if (now.taskTypes().isEmpty()) {
      if (sent) {
        remove(own);
        // A session that was removed cannot be registered again.
        session = UUID.randomUUID().toString();
        sent = false;
        entered = false;
      }
      return TTL;
    }
    sent = true;
    Map<String, Object> says = new LinkedHashMap<>();
    says.put("url", own.address().toString());
    says.put("taskTypes", new TreeSet<>(now.taskTypes()));
    says.put("concurrency", now.concurrency());
    says.put("protocol", now.protocol());
    if (now.release() != null) {
      says.put("release", now.release());
    }
    says.put("session", session);
    says.put("ttl", TTL.toSeconds() + "s");
    SchedulerCalls.Answer answer = calls.callWithin(CALL, "PUT", path(own), says);
    int status = answer.status();
    if (status != 200 && status != 201) {
      String detail = answer.text("detail");
      boolean unknown = (status == 404 || status == 405) && detail.isEmpty();
      reportProblem(
          "HTTP " + status,
          "a scheduler refused instance "
              + own.instance()
              + ": HTTP "
              + status
              + (unknown ? ". It is older or takes no registrations" : "")
              + (detail.isEmpty() ? "" : ": " + detail),
          unknown ? "Upgrade all schedulers." : remedy(status, detail));
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

  private String remedy(int status, String detail) {
    if (status == 401 || status == 403) {
      return "Set punctual.token to what the schedulers' command \"credentials %s\" prints."
          .formatted(identity.application());
    }
    if (detail.isEmpty()) {
      return "Check that punctual.url is the address of a scheduler.";
    }
    return detail.startsWith("url ")
        ? SET_ADDRESS
            + " Or allow the address at the schedulers (punctual.dispatch.allowed-networks)."
        : "Correct what the scheduler names.";
  }

  /** What to register: looked up each time, as a machine may get another address. */
  private @Nullable AdvertisedCallback current() {
    AdvertisedCallback before = advertised;
    List<URI> schedulers = calls.schedulers();
    URI callback = address.apply(schedulers);
    if (callback == null) {
      if (before == null) {
        if (schedulers.isEmpty()) {
          reportProblem(
              "no scheduler",
              "no scheduler is known",
              "Set punctual.url to the schedulers (a DNS name there must have addresses), or register"
                  + " them in the registry.");
        } else {
          reportProblem(
              "no address",
              "no local address for callbacks was found: " + LocalAddress.whyNone(schedulers),
              "Correct punctual.url, or set punctual.callback.url to an address at which schedulers"
                  + " reach this instance.");
        }
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

  private void reportProblem(String kind, String text, String remedy) {
    Problem before = problem;
    Problem now = new Problem(kind, withoutPeriod(text), remedy);
    if (!leaving && (before == null || !before.kind().equals(kind))) {
      AdvertisedCallback own = advertised;
      log.warn(
          "Punctual: instance {} of {} is not {}: {}. {} {} Punctual retries until it succeeds.",
          own == null ? "(address unknown)" : own.instance(),
          identity.application(),
          entered ? "renewed" : "registered",
          now.text(),
          entered
              ? "Schedulers drop it %d s after the last renewal.".formatted(TTL.toSeconds())
              : "Schedulers give it no jobs.",
          remedy);
    }
    problem = now;
  }

  private static String withoutPeriod(String text) {
    return text.endsWith(".") ? text.substring(0, text.length() - 1) : text;
  }

  private String path(AdvertisedCallback own) {
    return "/api/v1/workers/"
        + URLEncoder.encode(identity.application(), StandardCharsets.UTF_8)
        + "/"
        + URLEncoder.encode(own.instance(), StandardCharsets.UTF_8);
  }
}
